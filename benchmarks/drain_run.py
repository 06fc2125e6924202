"""One-second peaks of paced copies on this disk, and what a competing reader saw.

python -m benchmarks.drain_run [MiB] [MiB/s]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.probe import probing
from pegasus_bb.model.run import Drained, Run
from pegasus_bb.report.drained import Cumulative, read_segments
from pegasus_bb.report.probe import probed, read_probe, sentences
from pegasus_bb.runtime.draining.pace import Drain, DrainTargetPace, Pace
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.items import Folder, item_of
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.onefile import digest_file

MIB = 1 << 20
FILES = 4
# of the rate in a second, in this share of windows
MOST = 1.25
SHARE = 0.95
SHIFT = 0.1  # seconds between two windows
BESIDE = 3.0  # seconds before and after, in which the reader is alone


def main() -> int:
    numbers = [int(text) for text in sys.argv[1:]]
    size, rate = (*numbers, *(320, 32)[len(numbers) :])
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as root:
        with probing("read", Path(root) / "probed", Path(root) / "probe"):
            time.sleep(BESIDE)
            windows, is_same = paced(Path(root), size * MIB, rate * MIB)
            time.sleep(BESIDE)
        for sentence in seen(Path(root)):
            print(sentence)
    kept = sum(window <= MOST * rate * MIB for window in windows) / len(windows)
    print(
        f"{size} MiB at {rate} MiB/s: the busiest second has "
        f"{max(windows) / MIB:.1f} MiB; {kept:.1%} of {len(windows)} windows have at "
        f"most {MOST} times the rate (goal: {SHARE:.0%}); digests "
        f"{'unchanged' if is_same else 'CHANGED'}"
    )
    return 0 if kept >= SHARE and is_same else 1


def paced(root: Path, size: int, rate: int) -> tuple[list[float], bool]:
    """Bytes of each window of a second, and whether all arrived as they were."""
    source = root / "tier"
    dest = root / "pfs"
    for folder in (source, dest, root / "drain"):
        folder.mkdir()
    for number in range(FILES):
        (source / f"r{number}").write_bytes(os.urandom(size // FILES))
    os.sync()
    log = str(root / "drain" / "log.jsonl")
    target = DrainTargetPace("disk", str(root / "drain"), rate)
    here = Folder.open(str(source))
    there = Folder.open(str(dest))
    items = [
        item_of(
            here, file.name, there, as_name=file.name, status=file.stat(), mark=None
        )
        for file in sorted(source.iterdir())
    ]
    pace = Pace(Drain("bench", size, targets=[target], log=log))
    same = [
        outcome.landed is not None
        and outcome.landed.digest == digest_file(outcome.item.source_path)
        for outcome in Mover(SHA256, segments=pace).move(items)
    ]
    pace.close()
    segments = list(read_segments(Path(log)))
    if not segments:  # a file system that shares what is copied
        return [0.0], all(same)
    return _windows(Cumulative(segments)), all(same)


def seen(root: Path) -> Iterator[str]:
    """What the reader saw, in words."""
    segments = list(read_segments(root / "drain" / "log.jsonl"))
    if not segments:  # as below
        return iter(())
    span = Drained(min(segments)[0], max(end for _, end, _ in segments), 0, 0.0, ())
    samples = read_probe(root / "probe")
    return sentences(probed(samples, [Run("bench", drained=span)]))


def _windows(curve: Cumulative) -> list[float]:
    begin = curve.times[0]
    end = curve.times[-1]
    count = max(1, int((end - begin - 1) / SHIFT))
    starts = (begin + number * SHIFT for number in range(count))
    return [curve.at(start + 1) - curve.at(start) for start in starts]


if __name__ == "__main__":
    sys.exit(main())
