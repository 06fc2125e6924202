"""A job works on its own reservation, and notes what it has made before it ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.core.errors import RESERVATION_FAILED, USAGE
from tests.support.forked import ended
from tests.support.job_reservation_site import JOB, NODE, JobSite

MAKE = "cat in.txt > out.txt; cat pfs-in.txt > sub/more.txt; echo x > pfs-out.txt"


def refused(site: JobSite, *words: str, **environ: str) -> None:
    """Its task does not start, and the note of the job says that it failed."""
    done = site.launch("touch started", **environ)
    assert done.returncode == RESERVATION_FAILED, done.stderr
    assert [each for each in words if each not in done.stderr.decode()] == []
    assert list(site.root.rglob("started")) == []


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path) -> JobSite:
    """On a directory tier, if a test names no other."""
    return JobSite(tmp_path, getattr(request, "param", "directory"))


@pytest.fixture
def datawarp(tmp_path: Path) -> JobSite:
    return JobSite(tmp_path, "datawarp")


def test_the_task_runs_there_under_the_names_that_it_knows(
    site: JobSite,
) -> None:
    told = site.launch(
        f'pwd >&2; echo "$1 $SCRATCH" >&2; {MAKE}',
        f"{site.scratch}/in.txt",
        SCRATCH=str(site.scratch),
    )
    assert told.returncode == 0, told.stderr
    here, said = told.stderr.decode().splitlines()[:2]
    assert here.startswith(str(site.fast))
    assert said == f"{here}/in.txt {here}"


def test_lists_of_files_that_came_with_the_job_are_found_from_its_reservation(
    site: JobSite,
) -> None:
    """As Pegasus 5.1.3 names them for Kickstart: in a cluster, and for one job."""
    (site.scratch / "mix.in.lof").write_text("in.txt\n")
    task = f"{site.bb}/bin/launch sh -c 'cat $_CONDOR_SCRATCH_DIR/mix.in.lof >&2'"
    script = f'cat "${{1#@}}" >&2; {task}; {MAKE}'
    told = site.launch(script, "@./mix.in.lof", _CONDOR_SCRATCH_DIR=".")
    assert (told.returncode, told.stderr) == (0, b"in.txt\nin.txt\n")


def test_what_replaces_a_link_is_brought_to_the_pfs(site: JobSite) -> None:
    replace = "echo new > tmp; mv tmp pfs-out.txt; echo mine > t; mv t pfs-in.txt"
    ended(site.launch(f"{MAKE}; {replace}"))
    assert (site.scratch / "pfs-out.txt").read_text() == "new\n"
    assert (site.scratch / "pfs-in.txt").read_text() == "on the PFS\n"


def test_a_failed_task_notes_that_in_place_of_an_older_try(
    site: JobSite,
) -> None:
    ended(site.launch(MAKE))
    assert site.note["status"] == 0
    assert site.launch(f"{MAKE}; exit 3", CONDOR_JOBID="8.0").returncode == 3
    assert (site.note["job"], site.note["status"]) == ("8.0", 3)
    assert site.note["files"] == {}
    site.launch("kill -9 $PPID", CONDOR_JOBID="9.0")
    assert not (site.bb / "stage_out" / f"{NODE}.json").exists()


def test_a_result_that_is_missing_fails_the_job_by_name(
    site: JobSite,
) -> None:
    done = site.launch("cat in.txt > out.txt")
    assert done.returncode == 1
    assert b"sub/more.txt: the task ended well, but has not made" in done.stderr
    assert (site.note["status"], site.note["files"]) == (1, {})


def test_what_stays_may_be_renamed_by_a_later_task_of_the_cluster(
    site: JobSite,
) -> None:
    site.reserve(stay=["mid.txt"])
    ended(site.launch(f"{MAKE}; echo mid > mid.txt; mv mid.txt used"))
    assert site.note["status"] == 0


@pytest.mark.parametrize("link", ["$PWD/pfs-in.txt", "../pfs-in.txt"])
def test_a_link_in_a_result_to_an_input_on_the_pfs_is_copied(
    site: JobSite, link: str
) -> None:
    """The clean-up of the input removes what it leads to."""
    site.reserve(stage_out=["tree"])
    ended(site.launch(f"mkdir tree; ln -s {link} tree/link; echo x > pfs-out.txt"))
    (site.scratch / "pfs-in.txt").unlink()
    assert (site.landing / "tree/link").read_text() == "on the PFS\n"


@pytest.mark.parametrize("site", ["directory", "datawarp"], indirect=True)
def test_a_task_that_changes_an_input_of_later_jobs_fails_by_name(
    site: JobSite,
) -> None:
    site.reserve(watched=["in.txt"])
    ended(site.launch(f"{MAKE}; touch -d 2001-01-01 in.txt"))
    assert site.note["status"] == 0
    done = site.launch(f"{MAKE}; echo more >> in.txt", CONDOR_JOBID="9.0")
    assert done.returncode == 1
    assert b"in.txt: the task has changed its input in place" in done.stderr
    assert site.note["status"] == 1
    assert (site.scratch / "in.txt").read_text() == "input\n"


@pytest.mark.parametrize(
    ("site", "job"),
    [("directory", "8.0"), ("datawarp/private", JOB)],
    indirect=["site"],
)
def test_a_killed_try_leaves_nothing_to_the_next(site: JobSite, job: str) -> None:
    site.launch("echo half > out.txt; kill -9 $PPID")
    assert list(site.fast.rglob("out.txt")) != []
    done = site.launch(f"ls; {MAKE}", CONDOR_JOBID=job)
    assert b"out.txt" not in done.stdout.split()
    assert done.returncode == 0
    if site.backend == "directory":
        assert site.own_reservations() == []


@pytest.mark.parametrize("site", ["datawarp/private", "node-local"], indirect=True)
def test_a_job_of_several_nodes_does_not_start(site: JobSite) -> None:
    refused(site, "this job has 4 nodes", SLURM_JOB_NUM_NODES="4")
    ended(site.launch(MAKE, SLURM_JOB_NUM_NODES="1"))


@pytest.mark.parametrize("name", ["PEGASUS_DAG_JOB_ID", "CONDOR_JOBID"])
def test_a_job_without_its_number_does_not_start(site: JobSite, name: str) -> None:
    done = site.launch("touch started", **{name: ""})
    assert done.returncode == USAGE
    assert name.encode() in done.stderr
    assert not (site.scratch / "started").exists()


class TestByTheSystem:
    @pytest.mark.parametrize(
        ("path", "words"),
        [("", "not set"), ("relative", "relative"), ("/no/such", "not a directory")],
    )
    def test_no_space_is_an_error_not_a_write_elsewhere(
        self, datawarp: JobSite, path: str, words: str
    ) -> None:
        refused(datawarp, words, DW_JOB_STRIPED=path)
        assert datawarp.note["status"] != 0

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("", "sbatch was not given `#DW jobdw` for job 41"),
            ("BurstBuffer=#DW jobdw capacity=1", "but gave it no path"),
        ],
    )
    def test_without_a_path_slurm_is_asked_why(
        self, datawarp: JobSite, line: str, words: str
    ) -> None:
        scontrol = datawarp.root / "programs" / "scontrol"
        scontrol.parent.mkdir()
        row = "JobId=41 JobName=a UserId=me(1) JobState=RUNNING Reason=None"
        scontrol.write_text(f"#!/bin/sh\necho '{row}'\necho '   {line}'\n")
        scontrol.chmod(0o755)
        path = f"{scontrol.parent}:{os.environ['PATH']}"
        refused(datawarp, words, DW_JOB_STRIPED="", SLURM_JOB_ID="41", PATH=path)

    def test_a_job_with_the_directives_of_another_does_not_start_and_can_be_staged_out(
        self, datawarp: JobSite
    ) -> None:
        """blahp mixes up two jobs that it submits in the same microsecond."""
        words = "sbatch got the directives of another job"
        refused(datawarp, words, PEGASUS_DAG_JOB_ID="clean_up")
        assert (datawarp.fast / "results").is_dir()
        without = datawarp.launch(
            "true", PEGASUS_DAG_JOB_ID="clean_up", DW_JOB_STRIPED="/no/such"
        )
        assert without.returncode == 0, without.stderr

    def test_a_folder_where_nothing_is_mounted_is_refused(
        self, datawarp: JobSite
    ) -> None:
        known = datawarp.bbdir.transient().to_json()
        datawarp.write("transient.json", {**known, "settings": {}})
        refused(datawarp, "nothing is mounted there")

    @pytest.mark.parametrize(
        ("text", "words"),
        [(None, "was not staged in: "), ("inp", "was not staged in whole")],
    )
    def test_an_input_that_was_not_staged_is_named(
        self, datawarp: JobSite, text: str | None, words: str
    ) -> None:
        (datawarp.fast / "run" / "in.txt").unlink()
        if text is not None:
            (datawarp.fast / "run" / "in.txt").write_text(text)
        refused(datawarp, words)

    def test_there_is_always_something_to_stage_out(self, datawarp: JobSite) -> None:
        """What is not there fails the staging, and Slurm keeps the space for ever."""
        assert datawarp.launch("exit 3").returncode == 3
        assert list((datawarp.fast / "results").iterdir()) == []
        assert datawarp.landing.parent.is_dir()


@pytest.mark.parametrize("site", ["datawarp/private"], indirect=True)
class TestPrivate:
    def test_inputs_are_brought_and_results_taken_back(self, site: JobSite) -> None:
        (site.scratch / "in.txt").chmod(0o755)
        done = site.launch(f"pwd; test -x in.txt && {MAKE}", SLURM_JOB_ID="77")
        ended(done)
        assert site.note["slurm"] == ""
        assert done.stdout.decode() == f"{site.fast}/run\n"
        assert (site.landing / "sub" / "more.txt").read_text() == "on the PFS\n"

    def test_a_space_that_all_nodes_see_is_not_it(self, site: JobSite) -> None:
        where = {"DW_JOB_PRIVATE": "", "DW_JOB_STRIPED": str(site.fast)}
        refused(site, "$DW_JOB_PRIVATE is not set", **where)
