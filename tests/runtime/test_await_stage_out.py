"""Nothing goes on from a job's results before they are back, whole and right."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pegasus_bb.core.errors import DATA_NOT_SAFE, DEADLINE_PASSED, NOT_YET, DataNotSafe
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation import stage_out_landing
from pegasus_bb.runtime.programs.await_stage_out import poll
from tests.support.forked import ended
from tests.support.job_reservation_site import JOB, NODE, JobSite

MAKE = "cat in.txt > out.txt; cat pfs-in.txt > sub/more.txt"


@pytest.fixture
def site(tmp_path: Path) -> JobSite:
    found = JobSite(tmp_path, "datawarp")
    ended(found.launch(MAKE, SLURM_JOB_ID="4711"))
    judge = tmp_path / "judge"
    judge.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/judged\nexit "$1"\n')
    judge.chmod(0o755)
    return found


def landed(
    site: JobSite, status: str = "0", job: str = JOB, judge: str = "0"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            str(site.bb / "bin" / "await_stage_out"),
            NODE,
            job,
            status,
            str(site.root / "judge"),
            judge,
            "-r",
            status,
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )


def judged(site: JobSite) -> list[str]:
    file = site.root / "judged"
    return file.read_text().splitlines() if file.exists() else []


def test_results_that_land_late_are_waited_for(site: JobSite) -> None:
    assert [landed(site).returncode for _ in range(2)] == [NOT_YET, NOT_YET]
    assert judged(site) == []
    site.stage_out()
    assert landed(site, judge="4").returncode == 4  # its own script has the last word
    assert landed(site).returncode == 0
    assert judged(site) == ["4 -r 0", "0 -r 0"]
    assert (site.scratch / "out.txt").read_text() == "input\n"
    assert (site.scratch / "sub" / "more.txt").read_text() == "on the PFS\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "is not there"),
        ("inp", "has 3 bytes of 6"),
        ("INPUT\n", "has other bytes than the task wrote"),
    ],
)
def test_a_result_that_is_not_right_gets_no_name(
    site: JobSite, text: str | None, words: str
) -> None:
    site.stage_out()
    (site.landing / "out.txt").unlink()
    if text is not None:
        (site.landing / "out.txt").write_text(text)
    done = landed(site)
    assert done.returncode == NOT_YET
    assert words in done.stderr
    assert not (site.scratch / "out.txt").exists()
    (site.landing / "out.txt").write_text("input\n")
    assert landed(site).returncode == 0


def brought_by_htcondor(site: JobSite) -> None:
    """The note and the results come back with the job, and neither is durable."""
    site.stage_out()
    file = site.bb / "transient.json"
    request = json.loads(file.read_text())
    request["settings"]["submit_dir"] = "local"
    file.write_text(json.dumps(request))
    note = site.bb / "stage_out" / f"{NODE}.json"
    note.rename(site.landing.parent / f"{JOB}.json")


def test_results_that_htcondor_brings_are_durable_before_they_get_their_names(
    site: JobSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought_by_htcondor(site)
    named: list[bool] = []

    def sync(handle: int) -> None:
        named.append((site.scratch / "out.txt").exists())

    monkeypatch.setattr(stage_out_landing, "sync_file_system", sync)
    assert "2 results are back" in poll(BBDir(str(site.bb)), NODE, JOB)
    assert named == [False]
    assert (site.scratch / "out.txt").read_text() == "input\n"


def test_the_note_of_a_failed_job_comes_back_too(site: JobSite) -> None:
    brought_by_htcondor(site)
    assert landed(site, status="1", judge="1").returncode == 1
    assert (site.bb / "stage_out" / f"{NODE}.json").exists()


def test_a_scratch_that_is_not_mounted_here_is_named(site: JobSite) -> None:
    site.stage_out()
    site.scratch.rename(site.root / "elsewhere")
    done = landed(site)
    assert done.returncode == NOT_YET
    assert f"{site.scratch} cannot be seen on this machine" in done.stderr


def test_results_that_never_land_fail_the_node_with_all_that_is_known(
    site: JobSite,
) -> None:
    site.wait(0)
    done = landed(site)
    assert done.returncode == DEADLINE_PASSED
    for words in ("out.txt is not there", str(site.fast), "4711", "Slurm: "):
        assert words in done.stderr
    assert done.stderr.strip().endswith(
        (site.bb / "stage_out" / f"{NODE}.err").read_text().strip()
    )
    assert judged(site) == ["0 -r 0"]  # it keeps the job's output for people


def test_a_failed_job_that_the_batch_system_calls_well_fails_its_node(
    site: JobSite,
) -> None:
    """blahp loses exit codes; and a record says 0 where launch missed a result."""
    assert site.launch("exit 3", CONDOR_JOBID="8.0").returncode == 3
    assert landed(site, job="8.0", judge="0").returncode == 1
    assert judged(site) == ["0 -r 0"]
    assert not (site.bb / "stage_out" / f"{NODE}.err").exists()


def test_a_job_that_vanished_is_no_success(site: JobSite) -> None:
    """The batch system says 0, and only an older try has noted anything."""
    site.stage_out()
    assert landed(site, job="8.0").returncode == NOT_YET
    with pytest.raises(DataNotSafe, match=r"job 8\.0 ended well, but it has noted no"):
        poll(site.bbdir, NODE, "8.0", silent=0)
    site.wait(0)
    assert landed(site, job="8.0").returncode == DATA_NOT_SAFE
    assert not (site.scratch / "out.txt").exists()


def test_the_output_of_an_older_try_does_not_pass(site: JobSite) -> None:
    """Its stage-out comes late, after that of the try that counts."""
    again = site.launch(
        "echo better > out.txt; echo m > sub/more.txt", CONDOR_JOBID="8.0"
    )
    assert again.returncode == 0
    site.stage_out()  # of both tries: each in its own folder
    assert landed(site, job="8.0").returncode == 0
    assert (site.scratch / "out.txt").read_text() == "better\n"
    site.stage_out()  # of the older one, once more
    assert (site.scratch / "out.txt").read_text() == "better\n"
