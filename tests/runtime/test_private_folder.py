"""A job in a folder of its own finds its inputs there, and nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.as_root import as_root
from tests.support.forked import ended
from tests.support.job_lists import SCRATCH
from tests.support.private_jobs import LARGE, PrivateJob
from tests.support.run_site import NODE, Site
from tests.support.waiting import until


class TestTheFolder:
    def test_has_the_inputs_and_nothing_else_and_the_name_of_the_workflow_directory(
        self, job: PrivateJob
    ) -> None:
        (job.scratch / "a/b").mkdir(parents=True)
        (job.scratch / "c").mkdir()
        (job.scratch / "a/b/deep.dat").write_bytes(LARGE)
        job.needs.update(inputs=["a/b/deep.dat", "small.txt"], outputs=["c/out.txt"])
        says = f"find . ! -type d | sort; cat {SCRATCH}/small.txt; pwd"
        ended(job.run(f"told=$({says}); echo $told > c/out.txt"))
        place = job.jobs / f"{NODE}.0"
        assert job.made("c/out.txt") == f"./a/b/deep.dat ./small.txt small {place}\n"
        assert list(job.jobs.iterdir()) == []

    def test_is_not_for_a_job_of_a_sub_workflow_with_the_name_of_the_node(
        self, job: PrivateJob
    ) -> None:
        """A real pegasus-plan plans it on the same reservation, below the outer one."""
        inner = job.scratch / "inner"
        inner.mkdir()
        planned = f"{SCRATCH}/inner"
        done = job.run("pwd", works_in=planned, PEGASUS_SCRATCH_DIR=planned)
        ended(done)
        assert str(inner).encode() in done.stdout
        assert not job.jobs.exists()

    def test_has_a_path_for_programs_as_a_shell_has_without_one(
        self, job: PrivateJob
    ) -> None:
        """HTCondor gives jobs none; tasks of PegasusLite, a shell, have this one."""
        job.run("true")
        environ = {"PEGASUS_DAG_JOB_ID": NODE}
        subprocess.run(job.argv("printenv PATH > out.txt"), env=environ, check=True)
        assert "/usr/local/bin" in job.made().strip().split(":")

    def test_goes_after_sigterm(self, job: PrivateJob) -> None:
        begun = job.jobs / f"{NODE}.0" / "begun"
        with job.begin("touch begun; exec sleep 60") as launch:
            until(begun.exists)
            launch.send_signal(signal.SIGTERM)
            assert launch.wait() == 128 + signal.SIGTERM
        assert list(job.jobs.iterdir()) == []

    def test_of_a_killed_try_goes_when_the_next_one_starts(
        self, job: PrivateJob
    ) -> None:
        killed = job.jobs / f"{NODE}.0"
        killed.mkdir(parents=True)
        (killed / "out.txt").write_text("half")
        other = job.jobs / "other_ID1.0"
        other.mkdir()
        ended(job.run("pwd > out.txt"))
        assert job.made() == f"{job.jobs}/{NODE}.1\n"
        assert list(job.jobs.iterdir()) == [other]

    def test_is_on_the_disk_of_the_node_where_that_is_wanted(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        (tmp_path / "disk").mkdir()
        job.needs["disk"] = "$TMPDIR"
        ended(job.run("pwd; pwd > out.txt", TMPDIR=str(tmp_path / "disk")))
        home = tmp_path / "disk" / f"pegasus-bb-jobs-{os.getuid()}"
        place = Path(job.made().strip())
        assert place.parent == home
        assert place.name.endswith(f".{NODE}.0")
        assert list(home.iterdir()) == []
        assert not job.jobs.exists()

    def test_needs_the_variable_that_names_its_disk(self, job: PrivateJob) -> None:
        job.needs["disk"] = "$SLURM_TMPDIR"
        said = ended(job.run("echo done > out.txt"), 2)
        assert said.endswith("$SLURM_TMPDIR is not set in this job\n")

    def test_of_another_run_on_the_same_disk_stays(
        self, job: PrivateJob, tmp_path: Path
    ) -> None:
        other = PrivateJob(Site(tmp_path / "other"))
        for each in (job, other):
            each.needs["disk"] = str(tmp_path)
        begun = tmp_path / "begun"
        task = f"pwd > {begun}; until [ -e {tmp_path}/go ]; do sleep .02; done"
        with job.begin(f"{task}; cat small.txt > out.txt") as launch:
            until(begun.exists)
            ended(other.run("echo done > out.txt"))
            (tmp_path / "go").touch()
            assert launch.wait() == 0
        assert job.made() == "small\n"

    @as_root
    @pytest.mark.parametrize("kind", ["folder", "link"])
    def test_is_not_made_in_what_another_user_has_put_there(
        self, job: PrivateJob, tmp_path: Path, kind: str
    ) -> None:
        home = tmp_path / f"pegasus-bb-jobs-{os.getuid()}"
        if kind == "link":
            (tmp_path / "elsewhere").mkdir()
            home.symlink_to(tmp_path / "elsewhere")
        else:
            home.mkdir()
            os.chown(home, 1000, 1000)
        job.needs["disk"] = str(tmp_path)
        said = ended(job.run("echo done > out.txt"), 2)
        assert f"{home}: is not a folder of this user" in said

    def test_is_there_for_a_run_without_a_tier(
        self, site_without_reservation: Site
    ) -> None:
        site = site_without_reservation
        site.scratch.mkdir(parents=True)
        job = PrivateJob(site)
        site.plan_without_buffer(site.scratch)
        job.needs["scratch"] = str(site.scratch)
        ended(job.run("cat small.txt > out.txt", works_in=str(site.scratch)))
        assert job.made() == "small\n"


class TestCheckpoints:
    def test_each_try_goes_on_where_the_last_one_ended(self, job: PrivateJob) -> None:
        job.needs["checkpoints"] = ["saved.txt"]
        task = (
            "echo step >> saved.txt; [ $(wc -l < saved.txt) = 3 ]; cp saved.txt out.txt"
        )
        assert [job.run(task).returncode for _ in range(3)] == [1, 1, 0]
        assert job.made().split() == ["step"] * 3

    def test_one_that_is_not_made_is_no_fault(self, job: PrivateJob) -> None:
        job.needs["checkpoints"] = ["saved.txt"]
        ended(job.run("echo done > out.txt"))
        assert not (job.scratch / "saved.txt").exists()


def test_a_cluster_has_one_folder(job: PrivateJob) -> None:
    """Its tasks are started below its launch, and find what earlier ones have made."""
    job.needs["outputs"] = ["first.txt", "out.txt"]
    inner = f"{job.site.program('launch')} {job.site.program('record')} -w {SCRATCH}"
    first = f"{inner} sh -c 'pwd > first.txt'"
    second = f"{inner} sh -c 'cat first.txt > out.txt; pwd >> out.txt'"
    ended(job.run(f"{first} >&2; {second} >&2"))
    one, other = job.made().split()
    assert one == other == f"{job.jobs}/{NODE}.0"
