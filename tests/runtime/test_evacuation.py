"""A job that fails or is killed saves its checkpoints, and its next try finds them."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.job_reservation import evacuation
from pegasus_bb.runtime.job_reservation.checkpoint_drainer import Drainer
from pegasus_bb.runtime.job_reservation.checkpoints import Checkpoint
from pegasus_bb.runtime.stop_signals import JobEnds, StopSignals
from tests.support.job_reservation_site import JobSite
from tests.support.waiting import until

# Continues where the last try was, as a program with checkpoints does.
COUNT = (
    "n=$(cat state 2>/dev/null || echo 0); n=$((n + 1)); "
    "echo $n > state.new; mv state.new state"
)
MAKE = "cat in.txt > out.txt; mkdir -p sub; echo more > sub/more.txt"
BACKENDS = ("node-local", "directory", "datawarp/private")


def site_on(root: Path, backend: str, **evacuation: Any) -> JobSite:
    site = JobSite(root, backend)
    plan = {"within": 30, "every": 0, **evacuation}
    site.reserve(checkpoints=["state", "sub/big"], evacuation=plan)
    return site


@pytest.fixture
def node(tmp_path: Path) -> JobSite:
    return site_on(tmp_path, "node-local")


def ended_by(number: int, site: JobSite, script: str) -> tuple[int, str]:
    """The status and the words of a job that gets a signal when its task is ready."""
    with site.start(script) as job:
        until(lambda: list(site.fast.rglob("ready")))
        os.kill(job.pid, number)
        _, said = job.communicate(timeout=60)
    return job.returncode, said


def saved(site: JobSite, lfn: str = "state") -> str:
    return (site.scratch / lfn).read_text()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_next_try_goes_on_from_the_checkpoint_of_a_failed_one(
    tmp_path: Path, backend: str
) -> None:
    site = site_on(tmp_path, backend)
    for tries in ("1\n", "2\n"):
        done = site.launch(f"{COUNT}; exit 3")
        assert done.returncode == 3
        home = site.scratch / "state"
        assert f"checkpoint state: 2 B, is saved: {home}" in done.stderr.decode()
        assert saved(site) == tries
    done = site.launch(f"{COUNT}; cat state; {MAKE}", CONDOR_JOBID="8.0")
    assert (done.returncode, done.stdout) == (0, b"3\n"), done.stderr
    assert b"checkpoint" not in done.stderr
    assert not list(site.scratch.rglob("*.saving"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGXCPU])
def test_a_signal_ends_the_task_and_its_checkpoint_is_saved(
    node: JobSite, number: int
) -> None:
    # A long sleep could outlive its shell and keep stderr open: dash loses a SIGINT for
    # a child that it is just starting.
    waits = "while :; do sleep 0.05; done"
    status, said = ended_by(number, node, f"{COUNT}; touch ready; {waits}")
    assert status == 128 + number
    assert "checkpoint state: 2 B, is saved" in said
    assert saved(node) == "1\n"
    assert list(node.fast.iterdir()) == []


def test_a_task_may_write_its_checkpoint_when_the_signal_comes(node: JobSite) -> None:
    last = "trap 'echo last > state; exit 9' TERM"
    waits = "while :; do sleep 0.05; done"
    status, _ = ended_by(signal.SIGTERM, node, f"{last}; touch ready; {waits}")
    assert (status, saved(node)) == (9, "last\n")


def test_one_that_a_task_removes_comes_back(node: JobSite) -> None:
    node.launch(f"{COUNT}; exit 3")
    assert b"checkpoint" not in node.launch("rm state; exit 3").stderr
    assert node.launch("cat state; exit 3").stdout == b"1\n"


def test_an_older_one_stays_if_no_time_is_left(tmp_path: Path) -> None:
    node = site_on(tmp_path, "node-local", within=1)
    (node.scratch / "state").write_text("7\n")
    late = "trap 'sleep 1.5; exit 9' TERM; touch ready; while :; do sleep 0.05; done"
    status, said = ended_by(signal.SIGTERM, node, f"{COUNT}; {late}")
    assert status == 9
    why = "no time was left after the signal; an older one is there"
    assert f"checkpoint state is NOT SAVED: {why}" in said
    assert saved(node) == "7\n"
    assert not list(node.scratch.rglob("*.saving"))


def test_one_that_is_a_folder_comes_and_goes_as_a_whole(node: JobSite) -> None:
    grow = "mkdir -p state; echo x > state/$(ls state | wc -l); ls state"
    for number in range(3):
        done = node.launch(f"{grow}; exit 3")
        assert done.stdout.split() == [str(n).encode() for n in range(number + 1)]
    names = sorted(path.name for path in (node.scratch / "state").iterdir())
    assert names == ["0", "1", "2"]
    assert not list(node.scratch.glob("*older"))


@pytest.mark.parametrize("length", [238, 255])
@pytest.mark.parametrize("make", ["echo", "mkdir -p $n; cd $n; echo"])
def test_its_name_may_be_as_long_as_a_name_can_be(
    tmp_path: Path, make: str, length: int
) -> None:
    name = "n" * length
    node = site_on(tmp_path, "node-local")
    node.reserve(checkpoints=[name])
    for text in ("1", "2"):
        done = node.launch(f"n={name}; {make} {text} > {name}; exit 3")
        assert b"2 B, is saved" in done.stderr
    home = node.scratch / name
    assert (home / name if home.is_dir() else home).read_text() == "2\n"
    assert not list(node.scratch.glob("*older"))


@pytest.mark.parametrize("folder_comes", [True, False])
def test_a_file_may_become_a_folder_and_a_folder_a_file(
    node: JobSite, folder_comes: bool
) -> None:
    makes = ["echo 1 > state", "mkdir state; echo 1 > state/part"]
    for make in makes if folder_comes else reversed(makes):
        done = node.launch(f"rm -rf state; {make}; exit 3")
        assert b"checkpoint state: 2 B, is saved" in done.stderr
    assert (node.scratch / "state").is_dir() == folder_comes
    assert not list(node.scratch.glob("*older"))


def test_a_folder_that_is_too_deep_costs_no_other_its_copy(node: JobSite) -> None:
    """More folders in each other than Python calls functions, and a link to nowhere."""
    deep = "mkdir sub/big; cd sub/big; n=0; while [ $n -lt 1200 ]; do "
    deep += "mkdir d; cd -P d; n=$((n + 1)); done"
    done = node.launch(f"echo 1 > state; {deep}; exit 3")
    assert done.returncode == 3
    said = done.stderr.decode()
    assert "Traceback" not in said
    assert "checkpoint state: 2 B, is saved" in said
    assert "checkpoint sub/big is NOT SAVED: " in said
    assert not (node.scratch / "sub/big").exists()
    assert not list(node.scratch.rglob("*.saving"))


def test_holes_stay_holes_and_links_are_followed(node: JobSite) -> None:
    sparse = "truncate -s 64M sub/big; echo end >> sub/big; ln -s state.5 state"
    done = node.launch(f"{sparse}; echo 5 > state.5; exit 3")
    found = (node.scratch / "sub/big").stat()
    assert found.st_size == (64 << 20) + 4, done.stderr
    assert found.st_blocks * 512 < 1 << 20
    assert saved(node) == "5\n"
    assert not (node.scratch / "state").is_symlink()


def test_what_the_task_did_not_touch_is_not_copied_again(node: JobSite) -> None:
    node.launch(f"{COUNT}; exit 3")
    before = (node.scratch / "state").stat()
    done = node.launch("exit 3")
    assert b"checkpoint state: is there already" in done.stderr
    assert (node.scratch / "state").stat().st_ino == before.st_ino


def test_one_whose_time_stays_is_saved_if_its_bytes_are_new(node: JobSite) -> None:
    """As one that is written through a mapping, on a tmpfs."""
    node.launch("echo 1 > state; exit 3")
    same = "touch -r state time; echo 2 > state; touch -r time state"
    done = node.launch(f"{same}; exit 3")
    assert b"checkpoint state: 2 B, is saved" in done.stderr
    assert saved(node) == "2\n"


def test_it_leaves_while_the_job_runs(tmp_path: Path) -> None:
    """A launch that is killed saves nothing more, and loses nothing of that."""
    node = site_on(tmp_path, "node-local", every=1)
    go_on = tmp_path / "go on"
    waits = f"while [ ! -e '{go_on}' ]; do sleep 0.05; done; echo 2 > state; touch made"
    with node.start(f"{COUNT}; {waits}; sleep 60") as job:
        home = node.scratch / "state"
        until(home.exists)
        assert saved(node) == "1\n"
        assert job.stderr is not None
        said = job.stderr.readline()
        go_on.touch()
        until(lambda: list(node.fast.rglob("made")))
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate(timeout=60)
    assert f"checkpoint state: 2 B, is saved while the job runs: {home}" in said
    assert saved(node) in ("1\n", "2\n")
    done = node.launch(f"{COUNT}; cat state; {MAKE}", CONDOR_JOBID="8.0")
    assert done.stdout in (b"2\n", b"3\n")
    assert done.returncode == 0, done.stderr
    assert not list(node.scratch.rglob("*.saving"))


def test_a_loop_of_links_keeps_no_other_from_leaving(tmp_path: Path) -> None:
    node = site_on(tmp_path, "node-local", every=1)
    node.reserve(checkpoints=["sub/big", "state"])
    with node.start(f"ln -s big sub/big; {COUNT}; sleep 600") as job:
        try:
            until((node.scratch / "state").exists)  # while the task runs on
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            job.communicate(timeout=60)


def test_it_is_brought_to_a_job_that_works_on_the_pfs(node: JobSite) -> None:
    """Where the disk of its node is full."""
    node.reserve(capacity=1 << 60)
    for number in range(2):
        done = node.launch(f"{COUNT}; exit 3")
        assert b"this job works on the PFS" in done.stderr
        assert saved(node) == f"{number + 1}\n"


def test_none_leaves_before_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is first seen may be half of it, and the PFS may have an older one."""
    here, home = tmp_path / "here", tmp_path / "home"
    here.write_text("half")
    home.write_text("older")
    state = Checkpoint("state", str(here), str(home))
    drainer = Drainer([state], str(tmp_path / "copies"), 60)
    for _ in range(3):
        drainer.look(state)
    assert home.read_text() == "older"
    later = time.monotonic() + 61
    monkeypatch.setattr(time, "monotonic", lambda: later)
    here.write_text("whole")
    for _ in range(2):
        drainer.look(state)
    assert home.read_text() == "whole"


class TestInItself:
    """What a test cannot wait for: a full PFS, and time that is up in a copy."""

    def saved(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: Callable[[], int]
    ) -> list[str]:
        """What is said of two checkpoints, of which saving the larger one fails."""
        told: list[str] = []
        monkeypatch.setattr(evacuation, "tell", told.append)

        def save(checkpoint: Checkpoint, copies: str) -> int:
            return fail() if checkpoint.lfn == "large" else 5

        monkeypatch.setattr(evacuation, "save", save)
        both = []
        for name, size in (("large", 9), ("small", 5)):
            (tmp_path / name).write_text("x" * size)
            (tmp_path / f"{name}.home").write_text("older")
            both.append(
                Checkpoint(name, str(tmp_path / name), str(tmp_path / f"{name}.home"))
            )
        with StopSignals(6) as signals:  # a busy machine saves the small one, too
            os.kill(os.getpid(), signal.SIGUSR1)  # ends nothing
            signals.saves = True
            os.kill(os.getpid(), signal.SIGTERM)
            evacuation.save_checkpoints(signals, both, str(tmp_path / "copies"))
        assert told[0] == f"checkpoint small: 5 B, is saved: {tmp_path}/small.home"
        return told[1:]

    def test_a_full_pfs_is_a_sentence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/pfs/large")

        assert self.saved(tmp_path, monkeypatch, fail) == [
            "checkpoint large is NOT SAVED: /pfs/large: No space left on device; "
            "an older one is there",
        ]

    def test_the_smallest_comes_first_where_time_is_short(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def sleep() -> int:
            time.sleep(60)
            return 9

        begun = time.monotonic()
        assert self.saved(tmp_path, monkeypatch, sleep) == [
            "checkpoint large is NOT SAVED: no time was left after the signal; "
            "an older one is there",
        ]
        assert time.monotonic() - begun < 30


def test_a_signal_between_two_tasks_ends_the_job_once() -> None:
    with StopSignals(30), pytest.raises(JobEnds, match="SIGTERM"):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)
