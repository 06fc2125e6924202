"""Real Slurm and the emulated DataWarp: what a person at a site would try."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.testbed import site
from pegasus_bb.units import MIB
from tests.testbed.slurm_site import SlurmSite, on_slurm

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
    use = "#DW persistentdw name=csb"
    place, said = "$DW_PERSISTENT_STRIPED_csb", slurm.work / "said"
    first = slurm.script("one.sh", use, f"echo kept > {place}/x; echo {place} > {said}")
    slurm.ended(slurm.sbatch("wfuser", first))
    mount = said.read_text().strip()
    second = slurm.script(
        "two.sh", use, f"cat {place}/x > {said}; echo {place} >> {said}"
    )
    number = slurm.sbatch("wfuser", second)
    slurm.ended(number)
    kept, again = said.read_text().split()
    assert kept == "kept"
    assert again == f"{site.MOUNTS}/csb_{number}_striped_scratch"
    assert again != mount
    inside = Path(f"{slurm.home.root}{site.MOUNTS}")
    slurm.until(lambda: list(inside.iterdir()) == [])
    slurm.give_back("wfuser", "csb")
    assert list(slurm.place.buffers.iterdir()) == []


def test_use_before_create_waits_for_it(slurm: SlurmSite) -> None:
    said = slurm.work / "early"
    early = slurm.script("early.sh", "#DW persistentdw name=later", f"touch {said}")
    number = slurm.sbatch("wfuser", early)
    slurm.until(lambda: "BurstBuffer" in slurm.job(number).reason)
    slurm.hold("wfuser", "later", MIB)
    slurm.ended(number)
    assert said.exists()
    slurm.give_back("wfuser", "later")


def test_a_job_buffer_is_staged_in_and_out(slurm: SlurmSite) -> None:
    source, out = slurm.work / "in.txt", slurm.work / "out.txt"
    source.write_text("input\n")
    script = slurm.script(
        "job.sh",
        "#DW jobdw type=scratch capacity=10MiB access_mode=striped",
        f"#DW stage_in type=file source={source} destination=$DW_JOB_STRIPED/in",
        f"#DW stage_out type=file source=$DW_JOB_STRIPED/out destination={out}",
        "tr a-z A-Z < $DW_JOB_STRIPED/in > $DW_JOB_STRIPED/out",
    )
    slurm.ended(slurm.sbatch("wfuser", script))
    slurm.until(out.exists)
    assert out.read_text() == "INPUT\n"
    assert out.stat().st_uid == site.USERS["wfuser"]
    slurm.until(lambda: list(slurm.place.buffers.iterdir()) == [])


def test_a_job_starts_only_after_its_stage_in(slurm: SlurmSite) -> None:
    source, said = slurm.work / "slow.txt", slurm.work / "slow.out"
    source.write_text("came\n")
    slurm.inject("data_in times=1 delay=3\n")
    script = slurm.script(
        "slow.sh",
        "#DW jobdw type=scratch capacity=10MiB access_mode=striped",
        f"#DW stage_in type=file source={source} destination=$DW_JOB_STRIPED/in",
        f"cat $DW_JOB_STRIPED/in > {said}",
    )
    slurm.ended(slurm.sbatch("wfuser", script))
    assert said.read_text() == "came\n"


def test_a_dependency_waits_for_the_stage_out(slurm: SlurmSite) -> None:
    out, said = slurm.work / "late.txt", slurm.work / "after.txt"
    slurm.inject("data_out times=1 delay=3\n")
    script = slurm.script(
        "before.sh",
        "#DW jobdw type=scratch capacity=10MiB access_mode=striped",
        f"#DW stage_out type=file source=$DW_JOB_STRIPED/out destination={out}",
        "echo made > $DW_JOB_STRIPED/out",
    )
    first = slurm.sbatch("wfuser", script)
    after = slurm.script("after.sh", f"cat {out} > {said}")
    second = slurm.sbatch("wfuser", f"--dependency=afterburstbuffer:{first}", after)
    slurm.ended(second)
    assert said.read_text() == "made\n"


def test_a_job_of_no_node_makes_its_buffer_and_runs_no_script(slurm: SlurmSite) -> None:
    said = slurm.work / "never"
    line = "#BB create_persistent name=nonode capacity=1MiB access_mode=striped"
    script = slurm.script("nonode.sh", f"{line} type=scratch", f"touch {said}")
    job = slurm.ended(slurm.sbatch("wfuser", "-N0", script))
    assert job.fields["NumNodes"] == "0"
    assert "nonode" in slurm.buffers()
    assert not said.exists()
    slurm.give_back("wfuser", "nonode")


def test_what_stage_in_cannot_find_holds_the_job_with_its_words(
    slurm: SlurmSite,
) -> None:
    script = slurm.script(
        "missing.sh",
        "#DW jobdw type=scratch capacity=5MiB access_mode=striped",
        "#DW stage_in type=file source=/no/such destination=$DW_JOB_STRIPED/x",
    )
    number = slurm.sbatch("wfuser", script)
    slurm.until(lambda: "/no/such" in slurm.job(number).message)
    assert slurm.job(number).native == "PENDING"
    slurm.run("root", "scancel", number)
    slurm.until(lambda: list(slurm.place.buffers.iterdir()) == [])


def test_a_wrong_directive_is_refused_at_submission(slurm: SlurmSite) -> None:
    script = slurm.script("wrong.sh", "#DW jobdw type=cache capacity=5MiB")
    answer = slurm.run("wfuser", "sbatch", script)
    assert answer.status != 0
    assert "scratch only" in answer.err


def test_the_name_of_another_user_is_refused_in_slurms_words(slurm: SlurmSite) -> None:
    slurm.hold("other", "taken", MIB)
    line = "#BB create_persistent name=taken capacity=1048576 access_mode=striped"
    number = slurm.directive("wfuser", f"{line} type=scratch")
    slurm.until(lambda: slurm.job(number).held)
    assert "Duplicate buffer name" in slurm.job(number).message
    slurm.run("root", "scancel", number)
    slurm.give_back("other", "taken")


def test_a_failure_on_request_holds_the_create_with_its_words(slurm: SlurmSite) -> None:
    says = "dwsd: no space left on any server: 507"
    slurm.inject(f"create_persistent token=boom says={says}\n")
    line = "#BB create_persistent name=boom capacity=1048576 access_mode=striped"
    number = slurm.directive("wfuser", f"{line} type=scratch")
    slurm.until(lambda: slurm.job(number).held)
    assert says in slurm.job(number).message
    assert "boom" not in slurm.buffers()
    slurm.run("root", "scancel", number)


def test_a_restart_of_slurmctld_keeps_buffers_with_owner_and_size(
    slurm: SlurmSite,
) -> None:
    """Slurm reads them back from sessions and instances: the ids are whole numbers."""
    slurm.hold("wfuser", "first", 100 * MIB)
    slurm.hold("other", "second", 50 * MIB)
    site.stop_controller(slurm.home)
    site.start_controller(slurm.home)
    slurm.until(lambda: set(slurm.buffers()) == {"first", "second"})
    rows = slurm.buffers()
    assert (rows["first"].user, rows["first"].size) == ("wfuser", 100 * MIB)
    assert (rows["second"].user, rows["second"].size) == ("other", 50 * MIB)
    slurm.give_back("wfuser", "first")
    slurm.give_back("other", "second")


def test_dwstat_answers_through_scontrol(slurm: SlurmSite) -> None:
    said = slurm.run("wfuser", "scontrol", "show", "dwstat", "pools").out
    assert "wlm_pool" in said
    hostile = slurm.run("wfuser", "scontrol", "show", "dwstat", "$(id)").out
    assert "Error running dwstat" in hostile
