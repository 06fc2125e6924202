"""A job on a disk of its node: what it finds there, what it leaves, what is missing."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import RESERVATION_FAILED
from pegasus_bb.report.run_notes import jobs_on_pfs
from pegasus_bb.runtime.job_reservation import disk
from tests.support.job_reservation_site import JOB, NODE, JobSite
from tests.support.waiting import until

from .test_job_reservation import MAKE


@pytest.fixture
def node(tmp_path: Path) -> JobSite:
    return JobSite(tmp_path, "node-local")


def declare(site: JobSite, **settings: str) -> None:
    known = site.bbdir.transient().to_json()
    settings = {"path": str(site.fast), "mount": "any", **settings}
    site.write("transient.json", {**known, "settings": settings})


def needs(site: JobSite, capacity: int) -> None:
    site.reserve(capacity=capacity)


def folders(site: JobSite) -> list[Path]:
    return list(site.fast.iterdir())


def refused(done: subprocess.CompletedProcess[bytes], site: JobSite) -> str:
    assert done.returncode == RESERVATION_FAILED, done.stderr
    assert not (site.scratch / "started").exists()
    assert site.note["status"] != 0
    return done.stderr.decode()


class TestItsOwnFolder:
    def test_results_come_back_and_nothing_is_left(self, node: JobSite) -> None:
        done = node.launch(f"stat -c %a ..; {MAKE}", SLURM_JOB_ID="77")
        assert (done.returncode, done.stdout) == (0, b"700\n")
        assert (node.landing / "out.txt").read_text() == "input\n"
        assert node.note["slurm"] == ""  # Slurm keeps nothing of them
        assert node.launch("echo half > out.txt; exit 3").returncode == 3
        assert folders(node) == []
        assert not (node.root / "ledger.jsonl").exists()

    def test_the_job_s_own_variables_say_where(self, node: JobSite) -> None:
        (node.fast / "7").mkdir()
        declare(node, path="$TMPDIR/$SLURM_JOB_ID")
        own = {"TMPDIR": str(node.fast), "SLURM_JOB_ID": "7"}
        done = node.launch(f"pwd; {MAKE}", **own)
        assert done.stdout.decode().startswith(f"{node.fast}/7/pegasus_bb.")
        assert done.returncode == 0


class TestLeftOver:
    def test_the_next_launch_removes_what_a_killed_one_has_left(
        self, node: JobSite
    ) -> None:
        node.launch("mkdir d; chmod 0 d; echo half > out.txt; kill -9 $PPID")
        assert len(folders(node)) == 1
        done = node.launch(f"ls; {MAKE}", CONDOR_JOBID="8.0")
        assert b"out.txt" not in done.stdout.split()
        assert done.returncode == 0
        assert folders(node) == []

    def test_what_older_tries_have_left_on_the_pfs_goes(self, node: JobSite) -> None:
        for name in ("5.0/sub", "6.0.room/run"):
            (node.landing.parent / name).mkdir(parents=True)
            (node.landing.parent / name / "out.txt").write_text("half a res")
        assert node.launch(MAKE).returncode == 0
        assert [p.name for p in node.landing.parent.iterdir()] == [JOB]

    def test_the_folder_of_a_running_job_is_left_alone(self, node: JobSite) -> None:
        node.install()
        go_on = node.root / "go on"
        waits = f"touch here; while [ ! -e '{go_on}' ]; do sleep 0.02; done; {MAKE}"
        with running(node, waits) as other:
            try:
                until(lambda: list(node.fast.glob("*/run/here")))
                assert node.launch(MAKE, CONDOR_JOBID="8.0").returncode == 0
                assert len(folders(node)) == 1
            finally:
                go_on.touch()
            assert other.wait(120) == 0
        assert folders(node) == []

    def test_what_is_not_ours_is_left_alone(self, node: JobSite) -> None:
        here = f"pegasus_bb.{os.uname().nodename}."
        kept = node.root / "kept"
        kept.mkdir()
        (node.fast / f"{here}link").symlink_to(kept)
        (node.fast / "pegasus_bb.another-host.x").mkdir()
        (node.fast / "data").mkdir()
        assert node.launch(MAKE).returncode == 0
        assert {p.name for p in folders(node)} == {
            f"{here}link",
            "pegasus_bb.another-host.x",
            "data",
        }
        assert kept.exists()

    def test_a_folder_removed_before_it_was_locked_is_made_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """By a launch that removes left-over folders at that moment."""
        lock, room = disk.fcntl.flock, tmp_path / "room"
        taken: list[int] = []

        def late(handle: int, how: int) -> None:
            if not taken:
                room.rmdir()
            taken.append(handle)
            lock(handle, how)

        monkeypatch.setattr(disk.fcntl, "flock", late)
        os.close(disk._make_locked(str(room)))
        assert room.is_dir()
        assert len(taken) == 2


class TestMissing:
    def test_a_disk_that_is_not_there_is_never_made(self, node: JobSite) -> None:
        declare(node, path=str(node.root / "nvme"))
        words = refused(node.launch("touch started"), node)
        assert "no node-local disk on" in words
        assert "nvme" in words
        assert not (node.root / "nvme").exists()

    def test_a_variable_that_is_not_set(self, node: JobSite) -> None:
        declare(node, path="$SLURM_TMPDIR")
        words = refused(node.launch("touch started"), node)
        assert "$SLURM_TMPDIR is not set in this job" in words

    def test_a_folder_of_the_root_file_system(self, node: JobSite) -> None:
        declare(node, path="/", mount="required")
        words = refused(node.launch("touch started"), node)
        assert "no disk of its own is mounted there; `mount: any`" in words

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_a_disk_that_is_not_to_be_written(self, node: JobSite) -> None:
        node.fast.chmod(0o500)
        assert "Permission denied" in refused(node.launch("touch started"), node)

    def test_a_file_in_the_place_of_the_folder(self, node: JobSite) -> None:
        """Another user may guess its name."""
        node.launch("kill -9 $PPID")
        (room,) = folders(node)
        node.launch("true", CONDOR_JOBID="8.0")
        room.write_text("mine")
        assert "File exists" in refused(node.launch("touch started"), node)
        assert room.read_text() == "mine"


class TestFull:
    def test_the_job_works_on_the_pfs_and_says_why(self, node: JobSite) -> None:
        needs(node, 1 << 60)
        done = node.launch(f"pwd; {MAKE}")
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().startswith(f"{node.landing}.room/")
        assert b"free, and this job needs 1,024.0 PiB; this job works" in done.stderr
        assert (node.landing / "out.txt").read_text() == "input\n"
        assert not Path(f"{node.landing}.room").exists()
        assert node.note["since"] == 0
        assert folders(node) == []

    def test_it_is_noted_before_the_task_starts(self, node: JobSite) -> None:
        needs(node, 1 << 60)
        done = node.launch(f"cat {node.bb}/elsewhere/*; exit 3")
        assert done.returncode == 3
        said = json.loads(done.stdout)
        assert (said["node"], said["job"]) == (NODE, JOB)
        assert said["host"] == os.uname().nodename
        assert "free, and this job needs 1,024.0 PiB" in said["because"]
        ((away,), problems) = jobs_on_pfs(node.bb.parent)
        assert (away.because, problems) == (said["because"], ())

    def test_a_later_try_on_the_disk_takes_the_note_away(self, node: JobSite) -> None:
        needs(node, 1 << 60)
        assert node.launch("exit 3").returncode == 3
        needs(node, 1)
        assert node.launch(MAKE, CONDOR_JOBID="8.0").returncode == 0
        assert jobs_on_pfs(node.bb.parent) == ((), ())

    def test_what_cannot_be_noted_is_not_done(self, node: JobSite) -> None:
        needs(node, 1 << 60)
        (node.bb / "elsewhere").symlink_to(node.root / "nowhere")
        done = node.launch("touch started")
        assert done.returncode != 0
        assert f"{node.bb}/elsewhere".encode() in done.stderr
        assert node.note["status"] != 0
        assert list(node.root.rglob("started")) == []

    @pytest.mark.parametrize(
        ("number", "goes_on"), [("ENOSPC", True), ("EDQUOT", True), ("EIO", False)]
    )
    def test_inputs_that_do_not_fit(
        self, node: JobSite, number: str, goes_on: bool, monkeypatch: Any
    ) -> None:
        """Another job was faster than this one."""
        failed = OSError(getattr(errno, number), "as asked for", "/nvme/x")
        wrapped = RuntimeError("in.txt -> /nvme/x")
        wrapped.__cause__ = failed
        assert disk.is_full(failed) is goes_on
        assert disk.is_full(wrapped) is goes_on

    def test_a_task_that_fills_it_is_told_of(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
    ) -> None:
        found = os.statvfs(tmp_path)
        settings = {"path": str(tmp_path), "mount": "any"}
        with disk.on_the_disk(settings, "x", 1, {}):
            little = list(found)
            little[4] = 0  # f_bavail
            monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(little))
        assert f"launch: {tmp_path} on " in capsys.readouterr().err


def running(site: JobSite, script: str) -> subprocess.Popen[bytes]:
    known = {"PEGASUS_DAG_JOB_ID": "work_ID0000001", "CONDOR_JOBID": JOB}
    return subprocess.Popen(
        [str(site.bb / "bin" / "launch"), "sh", "-c", script],
        env={"PATH": os.environ["PATH"], **known},
        cwd=site.scratch,
        stdin=subprocess.DEVNULL,
    )
