"""--bb-keep-failed: the folder of a failed try is in the submit directory."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import failed_folder
from pegasus_bb.runtime.failed_folder import FailedTry, keep
from pegasus_bb.runtime.staging.onefile import Copied, copy_file
from pegasus_bb.runtime.staging.parts import part_name
from pegasus_bb.runtime.stop_signals import StopSignals
from tests.support.forked import ended
from tests.support.job_reservation_site import JOB, NODE, JobSite
from tests.support.private_jobs import PrivateJob
from tests.support.run_site import Site

from .test_evacuation import ended_by

LEAVES = (
    "echo half > out.txt; mkdir -p d/e; echo log > d/e/log; ln -s log d/e/latest; "
    'ln -s "$PWD/d" all; ln -s /etc/hostname away; ln d/e/log d/again; exit 3'
)
FILES = ["all", "away", "d/again", "d/e/latest", "d/e/log", "in.txt", "out.txt"]


def kept(bb: Path, name: str = f"{NODE}.{JOB}") -> tuple[Path, Any]:
    """The folder, and the note beside it."""
    folder = bb / "failed" / name
    return folder, json.loads((bb / "failed" / f"{name}.json").read_text())


def files_in(folder: Path) -> list[str]:
    found = [p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()]
    return sorted(str(p.relative_to(folder)) for p in found)


@pytest.fixture(params=["node-local", "directory", "datawarp/private"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> JobSite:
    site = JobSite(tmp_path, request.param)
    site.reserve(evacuation={"within": 30, "keep": True}, read=[], write=[])
    return site


class TestOnAJobReservation:
    def test_all_files_are_kept_declared_or_not(self, node: JobSite) -> None:
        done = node.launch(LEAVES)
        assert done.returncode == 3
        folder, note = kept(node.bb)
        words = f"the folder of this failed try is kept: {folder}: 3 files, 13 B"
        assert words in done.stderr.decode()
        assert (note["node"], note["files"], note["left"]) == (NODE, 3, 0)
        assert files_in(folder) == FILES
        assert (folder / "out.txt").read_text() == "half\n"
        assert (folder / "all/e/latest").read_text() == "log\n"
        assert (folder / "away").readlink() == Path("/etc/hostname")

    def test_inputs_that_it_did_not_touch_are_links(self, node: JobSite) -> None:
        node.launch("exit 3")
        folder, _ = kept(node.bb)
        assert (folder / "in.txt").readlink() == node.scratch / "in.txt"
        node.launch("echo mine >> in.txt; exit 3", CONDOR_JOBID="8.0")
        folder, _ = kept(node.bb, f"{NODE}.8.0")
        assert (folder / "in.txt").read_text() == "input\nmine\n"

    @pytest.mark.parametrize(
        "script",
        [
            "echo mine > new; touch -d 2001-01-01 new; mv new in.txt",
            "echo mine > in.txt",
        ],
    )
    def test_one_that_it_replaced_is_kept_whatever_its_time(
        self, node: JobSite, script: str
    ) -> None:
        node.launch(f"{script}; touch -d 2001-01-01 in.txt; exit 3")
        folder, _ = kept(node.bb)
        assert (folder / "in.txt").read_text() == "mine\n"

    def test_a_job_that_ends_well_keeps_nothing_and_removes_nothing(
        self, node: JobSite
    ) -> None:
        node.launch("exit 3")
        make = "cat in.txt > out.txt; cat in.txt > sub/more.txt"
        ended(node.launch(make, CONDOR_JOBID="8.0"))
        assert [p.name for p in (node.bb / "failed").iterdir() if p.is_dir()] == [
            f"{NODE}.{JOB}"
        ]

    def test_a_missing_result_is_a_failure(self, node: JobSite) -> None:
        assert node.launch("echo half > out.txt").returncode == 1
        folder, _ = kept(node.bb)
        assert (folder / "out.txt").read_text() == "half\n"

    def test_a_signal_ends_its_task(self, node: JobSite) -> None:
        script = "echo half > out.txt; touch ready; sleep 60"
        status, said = ended_by(signal.SIGTERM, node, script)
        assert status == 128 + signal.SIGTERM
        folder, _ = kept(node.bb)
        assert "is kept" in said
        assert (folder / "out.txt").read_text() == "half\n"

    def test_an_evicted_job_comes_again_under_its_number(self, node: JobSite) -> None:
        for text in ("1", "2"):
            node.launch(f"echo {text} > out.txt; exit 3")
        folder, _ = kept(node.bb, f"{NODE}.{JOB}-2")
        assert (folder / "out.txt").read_text() == "2\n"


def test_nothing_is_kept_if_no_one_asks(tmp_path: Path) -> None:
    site = JobSite(tmp_path, "node-local")
    assert site.launch(LEAVES).returncode == 3
    assert not (site.bb / "failed").exists()


def test_no_depth_is_too_deep(tmp_path: Path) -> None:
    site = JobSite(tmp_path, "node-local")
    site.reserve(evacuation={"within": 30, "keep": True})
    deep = "n=0; while [ $n -lt 1200 ]; do mkdir d; cd -P d; n=$((n + 1)); done"
    done = site.launch(f"echo half > out.txt; {deep}; echo deep > log; exit 3")
    assert done.returncode == 3, done.stderr
    folder, note = kept(site.bb)
    assert (folder / "out.txt").read_text() == "half\n"
    assert (folder / ("d/" * 1200) / "log").read_text() == "deep\n"
    assert (note["files"], note["left"]) == (2, 0)
    remove(str(folder))


def test_an_input_that_leads_out_costs_no_status(tmp_path: Path) -> None:
    site = JobSite(tmp_path, "node-local")
    (site.scratch / "sub").mkdir()
    (site.scratch / "sub/in.txt").write_text("input\n")
    site.reserve(evacuation={"within": 30, "keep": True}, stage_in=["sub/in.txt"])
    done = site.launch("rm -r sub; ln -s / sub; echo half > out.txt; exit 3")
    assert done.returncode == 3, done.stderr
    folder, _ = kept(site.bb)
    assert (folder / "sub").readlink() == Path("/")
    assert (folder / "out.txt").read_text() == "half\n"


class TestAPrivateFolder:
    """In a reservation that other jobs share, and on the disk of the node."""

    @pytest.fixture(params=["tier", "node"])
    def job(self, request: pytest.FixtureRequest, site: Site) -> PrivateJob:
        job = PrivateJob(site)
        job.needs["keep_failed"] = 30
        if request.param == "node":
            job.needs["disk"] = str(site.root / "nvme")
            (site.root / "nvme").mkdir()
        return job

    def test_it_is_kept_in_the_submit_directory(self, job: PrivateJob) -> None:
        task = "echo half > out.txt; echo log > log; exit 3"
        said = ended(job.run(task, CONDOR_JOBID=JOB), 3)
        folder, _ = kept(job.site.bb)
        assert f"is kept: {folder}: " in said
        assert files_in(folder) == ["big.dat", "log", "out.txt", "small.txt"]
        assert (folder / "out.txt").read_text() == "half\n"
        assert (folder / "big.dat").is_symlink()
        assert list(job.site.root.rglob(f"*{NODE}.0")) == []

    def test_one_that_ends_well_is_not(self, job: PrivateJob) -> None:
        ended(job.run("cat small.txt > out.txt", CONDOR_JOBID=JOB))
        assert not (job.site.bb / "failed").exists()


def make_deep(folder: Path) -> None:
    """More folders in each other than Python calls functions."""
    for _ in range(1200):
        folder /= "d"
        folder.mkdir()


class TestInItself:
    @pytest.fixture
    def job(self, site: Site) -> FailedTry:
        folder = site.root / "job"
        folder.mkdir()
        for name in ("a", "bb", "ccc"):
            (folder / name).write_text(name)
        return FailedTry(NODE, JOB, str(folder))

    def test_what_is_no_file_is_left_out_and_said(
        self, site: Site, job: FailedTry, capsys: pytest.CaptureFixture[str]
    ) -> None:
        os.mkfifo(f"{job.folder}/pipe")
        keep(site.bbdir, job, StopSignals(30))
        folder, note = kept(site.bb)
        assert files_in(folder) == ["a", "bb", "ccc"]
        assert (note["files"], note["left"]) == (3, 1)
        assert "NOT KEPT: 1 of 4 files: pipe: is no file" in capsys.readouterr().err

    @pytest.mark.parametrize("why", ["no time was left", "No space left on device"])
    def test_it_ends_early_with_the_smallest_and_says_what_it_lacks(
        self,
        site: Site,
        job: FailedTry,
        why: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        is_late = why == "no time was left"

        def copy(source: str, dest: str) -> Copied:
            if source.endswith("bb"):
                if is_late:
                    Path(part_name(dest)).write_text("half")
                    time.sleep(60)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), dest)
            return copy_file(source, dest)

        monkeypatch.setattr(failed_folder, "copy_file", copy)
        make_deep(Path(job.folder))
        with StopSignals(6 if is_late else 60) as signals:
            signals.saves = True
            os.kill(os.getpid(), signal.SIGTERM)
            keep(site.bbdir, job, signals)
        folder, note = kept(site.bb)
        for deep in (f"{job.folder}/d", f"{folder}/d"):
            remove(deep)
        assert files_in(folder) == ["a"]
        assert (note["files"], note["left"]) == (1, 2)
        said = capsys.readouterr().err
        assert "NOT KEPT: 2 of 3 files: " in said
        assert why in said
        names = sorted(path.name for path in (site.bb / "failed").iterdir())
        assert names == [folder.name, f"{folder.name}.json"]

    def test_what_a_killed_launch_left_goes_with_the_next(
        self, site: Site, job: FailedTry
    ) -> None:
        failed = site.bb / "failed"
        others = [f".{NODE}.x.6.0.part", ".other.6.0.part"]
        for number in ("6.0", "6.0.json.16afe8f3", "6.0-2.json.16afe8f3"):
            (failed / f".{NODE}.{number}.part").mkdir(parents=True)
        for name in others:
            (failed / name).mkdir()
        keep(site.bbdir, job, StopSignals(30))
        left = [path.name for path in failed.iterdir() if path.name.startswith(".")]
        assert sorted(left) == sorted(others)

    def test_a_place_that_cannot_be_written_is_a_sentence(
        self, site: Site, job: FailedTry, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (site.bb / "failed").write_text("no folder")
        keep(site.bbdir, job, StopSignals(30))
        said = capsys.readouterr().err
        assert f"NOT KEPT: {site.bb}/failed: " in said


def test_the_time_of_a_signal_is_the_time_of_all(tmp_path: Path) -> None:
    """A huge folder takes longer than a batch system waits."""
    site = JobSite(tmp_path, "node-local")
    site.reserve(evacuation={"within": 1, "keep": True})
    many = "mkdir many; i=0; while [ $i -lt 20000 ]; do : > many/$i; i=$((i+1)); done"
    script = f"{many}; touch ready; sleep 60"
    status, said = ended_by(signal.SIGTERM, site, script)
    assert status == 128 + signal.SIGTERM
    assert "NOT KEPT: " in said
    assert "no time was left after the signal" in said
    if "is kept" in said:
        _, note = kept(site.bb)
        assert note["left"] + note["files"] > 20000
    assert list(site.bb.glob("failed/.*")) == []
    assert list(site.fast.iterdir()) == []
