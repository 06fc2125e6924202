"""pegasus-bb bench, as it is typed: small blocks, whatever their speed."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pegasus_bb.core.errors import DONE, INTERRUPTED, USAGE
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.document import load
from pegasus_bb.model.speeds import read_speeds
from pegasus_bb.report.bench.measured_tier import PREFIX
from tests.support.forked import pegasus_bb

SMALL = ("--blocks", "64KiB", "--processes", "1")
LONG = ("--blocks", "64KiB", "--processes", ",".join(map(str, range(1, 65))))


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    for name in ("pfs", "bb"):
        (tmp_path / name).mkdir()
    yield tmp_path
    for name in ("pfs", "bb"):
        assert list((tmp_path / name).iterdir()) == []


class Measured(NamedTuple):
    """Two tiers on one file system, while another benchmark is at work on one."""

    work: Path
    other: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    work = tmp_path_factory.mktemp("measured")
    other = work / "bb" / f"{PREFIX}elsewhere.1.abc"
    for folder in (work / "pfs", other):
        folder.mkdir(parents=True)
    said = ("--speeds", "speeds.yml", "--site", "cluster")
    done = bench(work, "--tier", "pfs", "--tier", "fast=bb", *SMALL, *said)
    left = [*(work / "pfs").iterdir(), *(work / "bb").iterdir()]
    assert (done.returncode, left) == (DONE, [other]), done.stderr
    return Measured(work, other, done)


def typed(*words: str) -> list[str]:
    return [sys.executable, "-m", "pegasus_bb", "bench", *words]


def bench(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return pegasus_bb(["bench", *words], work, os.environ)


def test_the_speeds_can_be_planned_with(measured: Measured) -> None:
    work, _, done = measured
    assert "--output-sites local --bb-speeds speeds.yml WORKFLOW" in done.stderr
    found = read_speeds(load(work / "speeds.yml", {}), (SPEEDS,), "cluster")
    assert found is not None and set(found.places) == {"pfs", "fast"}
    assert found.slots == len(os.sched_getaffinity(0))
    assert (
        "# slots: the processors of that machine" in (work / "speeds.yml").read_text()
    )
    assert found.pfs.read > 0 and found.pfs.latency > 0
    assert 0 < found.pfs.job_ops <= found.pfs.ops < math.inf


def test_a_full_tier_is_refused_before_anything_is_written(work: Path) -> None:
    done = bench(work, "--tier", "bb", "--blocks", "64MiB,900TiB", "--processes", "1")
    assert done.returncode == USAGE
    assert "tier bb: " in done.stderr and "900.0 TiB" in done.stderr
    assert "use smaller --blocks" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--tier", "none"), "there is no folder"),
        (("--tier", "bb", "--tier", "bb=pfs"), "another tier is called bb"),
        (("--tier", "bb", "--blocks", "1100KiB"), "--blocks: less than 1MiB, or whole"),
        (("--tier", "bb", "--processes", "4,x"), "'x' is no number of processes"),
        (("--tier", "bb", "--speeds", "s.yml"), "--site SITE go together"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_measured(
    work: Path, words: tuple[str, ...], says: str
) -> None:
    done = bench(work, *words)
    assert done.returncode == USAGE
    assert says in done.stderr and "Traceback" not in done.stderr
    assert not (work / "s.yml").exists()


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGINT, INTERRUPTED, marks=pytest.mark.sweep),
        (signal.SIGTERM, 143),
    ],
)
def test_a_signal_leaves_nothing_behind(work: Path, number: int, status: int) -> None:
    """Slurm's end of a job is a SIGTERM."""
    process, workers = started(work)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == status, err
    assert "interrupted; its files are removed" in err
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert out == "" or "not complete: " in out


def started(work: Path) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        typed("--tier", "bb", *LONG),
        cwd=work,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if workers := writing(process.pid):
                return process, workers
        except OSError:  # opened and closed meanwhile
            pass
        time.sleep(0.01)
    raise AssertionError("nothing was written")


def writing(pid: int) -> list[int]:
    task = Path(f"/proc/{pid}/task/{pid}/children")
    workers = [int(word) for word in task.read_text().split()]
    for worker in workers:
        for handle in Path(f"/proc/{worker}/fd").glob("*"):
            if PREFIX in str(handle.readlink()):
                return workers
    return []
