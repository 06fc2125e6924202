"""Real Slurm and the emulated DataWarp: what a person at a site would try."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pegasus_bb_testbed import site

from pegasus_bb.core.units import MIB
from testbed.tests.slurm_site import SlurmSite, on_slurm

pytestmark = [pytest.mark.site, on_slurm("22.05")]


@pytest.fixture(autouse=True)
def no_faults(slurm: SlurmSite) -> Iterator[None]:
    yield
    slurm.inject("")


def test_a_persistent_buffer_is_created_used_by_two_jobs_and_destroyed(
    slurm: SlurmSite,
) -> None:
    slurm.hold("wfuser", "csb", 100 * MIB)
    row = slurm.buffers()["csb"]
    assert (row.size, row.user, row.pool) == (100 * MIB, "wfuser", "wlm_pool")
    use, place = "#DW persistentdw name=csb", "$DW_PERSISTENT_STRIPED_csb"
    said = slurm.work / "said"
    ended(slurm, use, f"echo kept > {place}/x")
    number = ended(slurm, use, f"cat {place}/x > {said}; echo {place} >> {said}")
    assert said.read_text().split() == [
        "kept",
        f"{site.MOUNTS}/csb_{number}_striped_scratch",
    ]
    slurm.give_back("wfuser", "csb")
    assert list(slurm.place.buffers.iterdir()) == []


def ended(slurm: SlurmSite, *lines: str) -> str:
    """The number of a job of wfuser with these lines, once it has ended."""
    number = slurm.sbatch("wfuser", slurm.script("job.sh", *lines))
    slurm.ended(number)
    return number


JOB = "#DW jobdw type=scratch capacity=10MiB access_mode=striped"
STAGE_IN = "#DW stage_in type=file destination=$DW_JOB_STRIPED/in source="
STAGE_OUT = "#DW stage_out type=file source=$DW_JOB_STRIPED/out destination="


def test_a_job_buffer_is_staged_in_before_and_out_after(slurm: SlurmSite) -> None:
    slurm.inject("data_in times=1 delay=3\ndata_out times=1 delay=3\n")
    source = slurm.work / "in.txt"
    out = slurm.work / "out.txt"
    after = slurm.work / "after.txt"
    source.write_text("input\n")
    work = "tr a-z A-Z < $DW_JOB_STRIPED/in > $DW_JOB_STRIPED/out"
    staged = slurm.script(
        "job.sh", JOB, f"{STAGE_IN}{source}", f"{STAGE_OUT}{out}", work
    )
    first = slurm.sbatch("wfuser", staged)
    later = slurm.script("after.sh", f"cat {out} > {after}")
    slurm.ended(slurm.sbatch("wfuser", f"--dependency=afterburstbuffer:{first}", later))
    assert (out.read_text(), after.read_text()) == ("INPUT\n", "INPUT\n")
    assert out.stat().st_uid == site.USERS["wfuser"]
    slurm.until(lambda: list(slurm.place.buffers.iterdir()) == [])


def test_what_stage_in_cannot_find_holds_the_job_with_its_words(
    slurm: SlurmSite,
) -> None:
    script = slurm.script("missing.sh", JOB, f"{STAGE_IN}/no/such")
    number = slurm.sbatch("wfuser", script)
    slurm.until(lambda: "/no/such" in slurm.job(number).message)
    assert slurm.job(number).native == "PENDING"
    slurm.run("root", "scancel", number)
    slurm.until(lambda: list(slurm.place.buffers.iterdir()) == [])
