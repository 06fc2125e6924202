"""pegasus-bb drain, as a job script starts it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.core.errors import DONE, NOT_COPIED, USAGE
from tests.support.reflinks import skip_if_shared
from tests.support.waiting import until

MIB = 1 << 20
DRAIN = [sys.executable, "-m", "pegasus_bb", "drain"]


def _usual_signals() -> None:
    """Also where the tests run below `nohup`, or in the background of a script."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Job:
    def __init__(self, root: Path) -> None:
        self.root, self.buffer, self.pfs = root, root / "bb" / "ckpt", root / "pfs"
        self.buffer.mkdir(parents=True)
        self._started: list[subprocess.Popen[str]] = []

    def drain(self, *words: str) -> subprocess.Popen[str]:
        """In the background, as `pegasus-bb drain ... &`."""
        process = subprocess.Popen(
            [*DRAIN, "bb/ckpt", "pfs/ckpt", "--settle", "1s", *words],
            cwd=self.root,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_usual_signals,
        )
        self._started.append(process)
        assert process.stderr is not None
        self.first = process.stderr.readline()
        return process

    def dump(self, name: str, size: int = 3 * MIB) -> None:
        folder = self.buffer / name
        folder.mkdir()
        for rank in range(2):
            (folder / f"rank{rank}").write_bytes(os.urandom(size))

    def arrived(self) -> dict[str, bytes]:
        return contents(self.pfs / "ckpt")

    def clean(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()


def contents(folder: Path) -> dict[str, bytes]:
    """Of what has its name."""
    every = (path for path in folder.rglob("*") if path.suffix != ".part")
    files = (path for path in every if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def told(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Its exit code after SIGTERM, and what it said."""
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "state" / "ledger.jsonl"))
    job = Job(tmp_path)
    yield job
    job.clean()


def test_a_job_dumps_and_ends(job: Job) -> None:
    drain = job.drain()
    job.dump("step1")
    until(lambda: len(job.arrived()) == 2)
    job.dump("step2")  # a moment before the end
    code, said = told(drain)
    assert code == DONE, said
    assert "dump 2: 2 files, 6.0 MiB, safe" in said
    assert set(job.arrived()) == {f"step{n}/rank{r}" for n in "12" for r in "01"}
    newest = contents(job.buffer)
    assert set(newest) == {"step2/rank0", "step2/rank1"}, "the newest stays"
    assert newest.items() <= job.arrived().items()
    assert not list(job.pfs.rglob("*.part"))


def test_kill_9_in_the_middle_and_again(job: Job) -> None:
    skip_if_shared(job.root)
    for step in ("step1", "step2"):
        job.dump(step, 8 * MIB)
    made = contents(job.buffer)
    drain = job.drain("--rate", "8MiB/s")
    until(lambda: job.arrived() and list(job.pfs.rglob(".*.part")))
    drain.kill()
    drain.wait()
    journal = next((job.root / "state" / "stage").glob("*.jsonl"))
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    noted = {line["name"] for line in lines if "name" in line}
    before = {name: (job.pfs / "ckpt" / name).stat().st_ino for name in noted}
    assert job.arrived().items() <= made.items(), "each that has its name is whole"
    again = job.drain()
    until(lambda: job.arrived() == made)
    code, said = told(again)
    assert code == DONE, said
    assert job.arrived() == made == contents(job.buffer)
    after = {name: (job.pfs / "ckpt" / name).stat().st_ino for name in noted}
    assert before == after, "what had arrived was not copied again"


FULL = """
mount -t tmpfs -o size=10m tmpfs pfs || exit 99
"$@" & drain=$!
sleep 3
dd if=/dev/zero of=bb/ckpt/step2 bs=1M count=8 status=none
sleep 3
ls pfs/ckpt > while_full
[ "$MORE_ROOM" ] && rm pfs/ckpt/step0
kill $drain
wait $drain
exit $?
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk for it")
@pytest.mark.parametrize(
    ("more_room", "code"),
    [pytest.param("yes", DONE, marks=pytest.mark.sweep), ("", NOT_COPIED)],
)
def test_a_destination_that_is_full(job: Job, more_room: str, code: int) -> None:
    """What has no room is tried again when the job ends, and stays where it was."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    job.pfs.mkdir()
    (job.buffer / "step0").write_bytes(bytes(4 * MIB))
    done = subprocess.run(
        [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            FULL,
            "sh",
            *DRAIN,
            "bb/ckpt",
            "pfs/ckpt",
            "--settle",
            "1s",
        ],
        cwd=job.root,
        env={**os.environ, "MORE_ROOM": more_room},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode == 99:
        pytest.skip("no mount here")
    assert done.returncode == code, done.stderr
    assert (job.root / "while_full").read_text().split() == ["step0"]
    assert "No space left on device; it needs 8.0 MiB" in done.stderr
    assert "step2" in contents(job.buffer)
    assert ("1 file did NOT arrive" in done.stderr) == (code == NOT_COPIED)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere", "pfs"], "nowhere: is no folder; make it before"),
        (["bb/ckpt", ""], "DEST is empty"),
        (["bb/ckpt", "bb/ckpt/in"], "one lies in the other"),
        (["bb/ckpt", "pfs", "--interval", "0"], "a time above zero"),
        (["bb/ckpt", "pfs", "--keep", "0"], "--keep 0: is a number above zero, or all"),
        (["bb/ckpt", "pfs", "--rate", "now"], "--rate now: not a rate such as 32MiB/s"),
        (["bb/ckpt", "pfs", "--rate", "1"], "--rate 1: not a rate such as 32MiB/s"),
        (["bb/ckpt", "pfs", "--registry", "r"], "say --rate as well"),
    ],
)
def test_mistakes_are_named(job: Job, words: list[str], why: str) -> None:
    (job.root / "file").touch()
    done = subprocess.run(
        [*DRAIN, *words], cwd=job.root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == USAGE
    assert why in done.stderr
    assert "Traceback" not in done.stderr
