"""A whole benchmark: its tiers and cells, and what has been measured so far."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

from pegasus_bb.core.errors import NotMeasured, UsageError
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import format_size
from pegasus_bb.model.mean_and_error import Stat, stat
from pegasus_bb.report.bench.built_in_engine import BuiltInBenchmark
from pegasus_bb.report.bench.cells import Cell, Measurement, Operations
from pegasus_bb.report.bench.measured_tier import MeasuredFolder, temporary_folder

_PAGE = 4096
_SAMPLES = 4  # of a file, spread over it
_TRIES = 3  # fast storage may answer a sample at once


def drop(folder: str) -> bool:
    """Write all files of ``folder`` to the storage and drop them from the page cache.

    False if some may still be there. Raises OSError.
    """
    left = [entry.path for entry in os.scandir(folder) if not _drop(entry.path)]
    return not left


def _drop(path: str) -> bool:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        # Without this a sample makes the kernel read ahead what shall not be there.
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_RANDOM)
        size = os.fstat(handle).st_size
        dropped = any(_is_dropped(handle, size) for _ in range(_TRIES))
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        return dropped
    finally:
        os.close(handle)


def _is_dropped(handle: int, size: int) -> bool:
    """Drop the file, then read some pages with RWF_NOWAIT, which never waits for the
    storage."""
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    step = max(_PAGE, size // _SAMPLES // _PAGE * _PAGE)
    for at in range(0, size, step):
        try:
            if os.preadv(handle, [bytearray(_PAGE)], at, os.RWF_NOWAIT):
                return False
        except BlockingIOError:
            continue
        except OSError:  # the file system does not tell
            return False
    return True


# Called with what is next, the repetitions done, and how many there are.
TellProgress = Callable[[str, int, int], None]
REPETITIONS = 5  # of every cell
_FILES = 64  # opened in each repetition
SECONDS = 0.2  # of operations on small files, at least, in each repetition


@dataclass(slots=True)
class TierSession:
    place: MeasuredFolder
    openings: list[float] = field(default_factory=list)  # seconds of one open
    measurements: list[Measurement] = field(default_factory=list)
    operations: list[Operations] = field(default_factory=list)

    @property
    def latency(self) -> Stat | None:
        return stat(self.openings)

    def measured(self) -> list[Measurement]:
        return [one for one in self.measurements if one.writes]


class Session:
    """A benchmark. It keeps what was measured even if ``run`` is interrupted."""

    def __init__(self, places: Sequence[MeasuredFolder], cells: Sequence[Cell]) -> None:
        """Raise UsageError if a tier has no room for the largest of ``cells``."""
        largest = max(cells, key=lambda cell: cell.total)
        for place in places:
            if largest.total > place.room():
                raise UsageError(
                    f"tier {place.name}: {largest} are {format_size(largest.total)}, "
                    f"and {place.path} has room for {format_size(place.room())}; use "
                    "smaller --blocks, fewer --processes, or another folder"
                )
        self._processes = max(cell.processes for cell in cells)
        self.tiers = [
            TierSession(
                place,
                measurements=[Measurement(cell) for cell in cells],
                operations=[Operations(n) for n in sorted({1, self._processes})],
            )
            for place in places
        ]

    def run(self, tell: TellProgress = lambda *_: None) -> None:
        """Measure, and remove everything that was written. Raises NotMeasured.

        The repetitions of a cell lie far apart and tiers take turns, so the load of
        other users falls on all cells alike.
        """
        with ExitStack() as stack:
            folders = [
                stack.enter_context(temporary_folder(tier.place)) for tier in self.tiers
            ]
            for tier, folder in zip(self.tiers, folders, strict=True):
                tier.openings = _openings(tier, folder)
            engine = BuiltInBenchmark(self._processes)
            stack.callback(engine.close)  # before the folders go
            turns = list(self._turns(engine, folders)) * REPETITIONS
            for done, (what, turn) in enumerate(turns):
                tell(what, done, len(turns))
                turn()

    def _turns(
        self, engine: BuiltInBenchmark, folders: Sequence[str]
    ) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield each turn of one repetition: what is next, for a person, and what does
        it."""
        tiers = list(zip(self.tiers, folders, strict=True))
        for cells in zip(*(tier.measurements for tier in self.tiers), strict=True):
            for (tier, folder), one in zip(tiers, cells, strict=True):
                turn = partial(repeat, engine, tier.place, folder, one)
                yield f"{tier.place.name}: {one.cell}", turn
        for counts in zip(*(tier.operations for tier in self.tiers), strict=True):
            for (tier, folder), of in zip(tiers, counts, strict=True):
                doing = partial(repeat_operations, engine, tier.place, folder, of)
                yield f"{tier.place.name}: operations of {of.processes}", doing


def repeat(
    engine: BuiltInBenchmark, place: MeasuredFolder, folder: str, one: Measurement
) -> None:
    """Measure ``one`` once more, in a new folder in ``folder``. Raises NotMeasured."""
    with _new_folder(folder, f"tier {place.name}, {one.cell}") as data:
        room = place.room()
        if one.cell.total > room:
            why = f"only {format_size(room)} are left; others write to {place.path}"
            raise NotMeasured(why)
        write = engine.write(one.cell, data)
        dropped = drop(data)
        read = engine.read(one.cell, data)
    one.add(write, read, warm=place.in_memory or not dropped)


def repeat_operations(
    engine: BuiltInBenchmark, place: MeasuredFolder, folder: str, one: Operations
) -> None:
    """Do the same of ``one``. Raises NotMeasured."""
    what = f"tier {place.name}, operations of {one.processes}"
    with _new_folder(folder, what) as files:
        one.rates.append(engine.operate(one.processes, files, SECONDS))


@contextmanager
def _new_folder(parent: str, what: str) -> Iterator[str]:
    """Make a folder, and remove it at the end. Raises NotMeasured with ``what`` was
    measured.

    An error leaves the files: processes of the engine may still write, so they go with
    ``parent``, once the engine is closed.
    """
    path = os.path.join(parent, "data")
    try:
        os.mkdir(path)
        yield path
        remove(path)
    except (OSError, NotMeasured) as error:
        raise NotMeasured(f"{what}: {error}") from error


def _openings(tier: TierSession, folder: str) -> list[float]:
    try:
        return [opening(folder) for _ in range(REPETITIONS)]
    except OSError as error:
        raise NotMeasured(f"tier {tier.place.name}: {error}") from error


def opening(folder: str) -> float:
    """Return the mean seconds of an open: half of them create a file, half open it
    again.

    Raises OSError.
    """
    paths = [os.path.join(folder, f"open.{number}") for number in range(_FILES)]
    begun = time.perf_counter()
    for flags in (os.O_WRONLY | os.O_CREAT, os.O_RDONLY):
        for path in paths:
            os.close(os.open(path, flags, 0o600))
    seconds = time.perf_counter() - begun
    for path in paths:
        os.unlink(path)
    return seconds / (2 * _FILES)
