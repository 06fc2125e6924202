"""One scene: a set on one kind of source, copied by all programs in turn."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from benchmarks.staging.busy import busy_cores
from benchmarks.staging.measure import Cost, run, sync_file_system
from benchmarks.staging.peers import Peer, Task
from benchmarks.staging.sets import (
    MIB,
    SEED,
    FileSet,
    RunFailed,
    check_copy,
    empty_files,
)

KEPT = 256 * MIB  # copies up to this size stay: emptying thousands of files takes long
FEW = 3  # programs; all their orders are as many rounds as one can wait for
_DROP = Path("/proc/sys/vm/drop_caches")


@dataclass(frozen=True)
class Scene:
    """Where the source lies, whether the machine has it in memory already, and how many
    cores do other work meanwhile."""

    files: FileSet
    on: str  # tmpfs | disk
    cache: str  # warm | cold
    busy: int = 0  # cores

    @property
    def title(self) -> str:
        title = f"{self.files.name}, {self.on} to disk, {self.cache}"
        return f"{title}, beside a busy core" if self.busy else title


@dataclass(frozen=True)
class Run:
    """What one program cost in one round of a scene; ``failed`` is what it said."""

    scene: Scene
    round: int
    name: str
    cost: Cost
    failed: str = ""


def play(
    scene: Scene, source: Path, work: Path, peers: Sequence[Peer], rounds: range
) -> Iterator[Run]:
    """Every round all of ``peers``, in an order of its own that the seed fixes."""
    for turn, order in zip(rounds, orders(scene, peers, rounds.start), strict=False):
        for peer in order:
            if turn == 0 or not peer.takes_minutes:
                yield _one(scene, turn, peer, source, work)


def orders(scene: Scene, peers: Sequence[Peer], start: int) -> Iterator[Sequence[Peer]]:
    """Without end. Few take every order equally often: a run is faster or slower for
    what the one before it left of the machine's memory."""
    draw = random.Random(f"{SEED} {scene.title} {start}")
    while True:
        every = list(permutations(peers)) if len(peers) <= FEW else [tuple(peers)]
        for order in draw.sample(every, len(every)):
            yield order if len(peers) <= FEW else draw.sample(order, len(order))


def _one(scene: Scene, turn: int, peer: Peer, source: Path, work: Path) -> Run:
    """Only `run` is timed."""
    number = len(os.listdir(work / "copies"))  # noqa: PTH208
    task = Task(scene.files, source, work / f"copies/{number}", work / "room")
    shutil.rmtree(task.work, ignore_errors=True)
    task.work.mkdir()
    if not peer.makes_dest:
        task.dest.mkdir()
    argv = peer.argv(task)
    prepare_cache(scene, source)
    try:
        with busy_cores(scene.busy):
            cost = run(argv, work, work / "said")
        check_copy(scene.files, source, task.dest)
        failed = ""
    except (RunFailed, OSError) as error:
        cost = Cost(0, 0, 0)
        failed = str(error)
    task.dest.mkdir(exist_ok=True)
    if scene.files.size > KEPT:
        empty_files(task.dest)
    sync_file_system(work)
    print(
        f"{scene.title}: {peer.name} {failed or f'{cost.wall:.2f} s'}",
        file=sys.stderr,
        flush=True,
    )
    return Run(scene, turn + 1, peer.name, cost, failed)


def prepare_cache(scene: Scene, source: Path) -> None:
    """Warm: everything was read just now. Cold: as little as we may is in memory."""
    if scene.on == "tmpfs":
        return
    if scene.cache == "cold" and os.access(_DROP, os.W_OK):
        os.sync()
        _DROP.write_text("3")
        return
    for path, _ in scene.files.files:
        with (source / path).open("rb", buffering=0) as data:
            if scene.cache == "warm":
                while data.read(1 << 20):
                    pass
            else:
                os.posix_fadvise(data.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def how_cold() -> str:
    """What a cold cache means here."""
    if os.access(_DROP, os.W_OK):
        return "cold: all caches dropped before each run"
    return (
        "cold: only the sources' bytes dropped before each run, not names and inodes "
        "(dropping all of it needs root)"
    )


def why_absent(peer: Peer, is_first: bool) -> str:
    """Empty if ``peer`` takes its turns; ``is_first``: in a set's first scene."""
    if not peer.missing and peer.takes_minutes and not is_first:
        return "in the first scene of a set only: it takes minutes"
    return peer.missing
