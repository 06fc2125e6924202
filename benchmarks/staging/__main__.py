"""Our mover beside what people use, and beside what the machine can do at all.

All programs take turns in every round, in an order that the seed fixes; what counts is
a ratio within one round. `make bench-staging` runs this.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.byte_code import compile_as_installed
from benchmarks.staging.peers import OURS, UNVERIFIED, all_peers
from benchmarks.staging.results import fastest, goals_of, table
from benchmarks.staging.scenes import KEPT, Run, Scene, how_cold, play, why_absent
from benchmarks.staging.sets import GIB, SETS, FileSet, write_set

# From tmpfs, from disk warm, from disk cold: 45 minutes in all.
ROUNDS = {"large": (3, 5, 3), "mixed": (3, 5, 2), "small": (5, 5, 3), "many": (1, 1, 1)}
# What a digest costs is less than two rounds differ by: those that the goals of large
# files are about play more of them, in each of their orders twice.
CLOSE_ROUNDS = 12
_SPARE = 2 * GIB  # room that others may need meanwhile


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench-staging", description=__doc__)
    add = parser.add_argument
    add("--sets", nargs="+", choices=SETS, default=list(SETS))
    add("--src", nargs="+", choices=("tmpfs", "disk"), default=["tmpfs", "disk"])
    add("--rounds", type=int, help="of every set (else as many as the set is worth)")
    add("--scale", type=float, default=1.0, help="of every set; goals are for 1")
    add("--disk", type=Path, help="work here (else in TMPDIR, or /var/tmp)")
    add("--tmpfs", type=Path, default=Path("/dev/shm"))
    add(
        "--pegasus-transfer", default="", help="the program, or its virtual environment"
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    options = parse(argv)
    compile_as_installed()
    # Not /tmp, which is in memory on some systems.
    where = os.environ.get("TMPDIR", "/var/tmp")
    disk = Path(tempfile.mkdtemp(prefix="bench-staging-", dir=options.disk or where))
    tmpfs = Path(tempfile.mkdtemp(prefix="bench-staging-", dir=options.tmpfs))
    # A signal must not leave gigabytes behind.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        return bench(options, disk, tmpfs)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # not while this is being done
        shutil.rmtree(disk)
        shutil.rmtree(tmpfs)
        signal.signal(signal.SIGTERM, before)


def bench(options: argparse.Namespace, disk: Path, tmpfs: Path) -> int:
    """Play every scene and print the results: 0 if all goals are met, else 1."""
    (disk / "copies").mkdir()
    peers = all_peers(options.pegasus_transfer)
    if "disk" in options.src:
        print(how_cold(), flush=True)
    runs: list[Run] = []
    for scene, source in scenes(options, disk, tmpfs):
        # The set of many files is there for our memory alone.
        asked = peers[:1] if scene.files.name == "many" else peers
        rounds = options.rounds or rounds_of(scene)
        is_first = all(run.scene.files != scene.files for run in runs)
        absent = {peer.name: why_absent(peer, is_first) for peer in asked}
        present = [peer for peer in asked if not absent[peer.name]]
        of_scene = list(play(scene, source, disk, present, range(rounds)))
        of_digests = scene.files.name == "large" and not scene.busy
        if of_digests and options.rounds is None:
            best = fastest(of_scene)
            close = [peer for peer in present if peer.name in (OURS, UNVERIFIED, best)]
            more = range(rounds, rounds + CLOSE_ROUNDS)
            of_scene += play(scene, source, disk, close, more)
        print("\n" + table(scene, of_scene, absent), flush=True)
        runs += of_scene
    goals = goals_of(runs)
    print("\n" + "\n".join(map(str, goals)))
    return 0 if all(goal.met for goal in goals) else 1


def rounds_of(scene: Scene) -> int:
    of_tmpfs, of_warm, of_cold = ROUNDS[scene.files.name]
    if scene.on == "tmpfs":
        return of_tmpfs
    return of_warm if scene.cache == "warm" else of_cold


def scenes(
    options: argparse.Namespace, disk: Path, tmpfs: Path
) -> Iterator[tuple[Scene, Path]]:
    """Each scene with its source, which is there until the next one is asked for."""
    for name in options.sets:
        files = SETS[name](options.scale)
        for on, root in (("tmpfs", tmpfs), ("disk", disk)):
            if on not in options.src:
                continue
            need_room(files, root, disk)
            source = root / f"source-{name}"
            write_set(files, source)
            for cache in ("warm", "cold"):
                if worth(name, on, cache, options.src):
                    yield Scene(files, on, cache), source
            if name != "many" and on == "disk":  # what a job's own node does
                yield Scene(files, on, "warm", busy=1), source
            remove_source(source, on)


def worth(name: str, on: str, cache: str, sources: Sequence[str]) -> bool:
    """A tmpfs is never cold, and memory does not depend on where the files lie."""
    if name == "many":
        return (on, cache) == (sources[0], "warm")
    return (on, cache) != ("tmpfs", "cold")


def remove_source(source: Path, on: str) -> None:
    """On disk the names stay until the end, see check.py."""
    if on == "tmpfs":
        shutil.rmtree(source)
        return
    for folder, _, names in os.walk(source):
        for name in names:
            os.truncate(Path(folder, name), 0)


def need_room(files: FileSet, source: Path, dest: Path) -> None:
    """Stop here, and not half-way, where there is no room."""
    copies = 2 if files.size > KEPT else 120  # all of them, see scenes.py
    for root, size in ((source, files.size), (dest, copies * files.size)):
        free = shutil.disk_usage(root).free
        if free < size + _SPARE:
            sys.exit(
                f"{root}: {free / GIB:.1f} GiB are free; the {files.name} set needs "
                f"{(size + _SPARE) / GIB:.1f}. Say --scale 0.5, or --disk elsewhere"
            )


if __name__ == "__main__":
    sys.exit(main())
