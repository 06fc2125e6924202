"""Which files are a dump, those that a program wrote in one burst, and which is next.

Nothing is asked of the program. A file has changed if its version has; a burst is over
when none of its files has changed for a while. Times are of one monotonic clock, and
are those of looking: no clock that jumps, and no time that a program sets, counts.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.units import abbreviate
from pegasus_bb.runtime.draining.scan import Found, Say, Version
from pegasus_bb.runtime.staging.failures import on_a_line

PATIENCE = 600.0  # seconds; what is written for longer is no part of a dump
_TRIFLE = 0.1  # of the largest burst; smaller ones are copied, but are no dumps
# intervals
_REMEMBERED = 8
_LATELY = 3
# Parts of the time until the next dump that are used: of an interval that the user
# knows, or that is usual; and of the least that was seen.
_USUAL = 0.9
_LEAST = 0.76
# seconds until what failed is tried again; they double
AGAIN = 30.0
AT_MOST = 600.0


class Dump(NamedTuple):
    number: int
    files: dict[str, Version]  # by path below the watched folder
    size: int  # bytes
    begun: float  # when its first change was seen; -infinite: before the first look
    is_full: bool = True  # not only a log that was written meanwhile


class Interval:
    """Seconds from the begin of a dump to that of the next one."""

    def __init__(self, fixed: float = 0.0) -> None:
        """``fixed``: what the user knows; 0: it is learned."""
        self._fixed = fixed
        self._last = -math.inf
        self._lengths: list[float] = []

    def learn(self, dump: Dump) -> None:
        if not dump.is_full:
            return
        if self._last > -math.inf:
            self._lengths = [*self._lengths, dump.begun - self._last][-_REMEMBERED:]
        self._last = dump.begun

    @property
    def seconds(self) -> float:
        """The least that was seen of late; 0: not known yet."""
        return self._fixed or min(self._lengths, default=0.0)

    def spread(self, *, shares_limit: bool) -> float:
        """Seconds from the begin of a dump on, over which it is spread; 0: not known.

        Who shares a limit makes no peak by being early: an interval may be 30 % shorter
        than the least one. Else it is the spread that makes the peak: so it is long,
        and one dump of several is late by a part of an interval.
        """
        if self._fixed or not self._lengths:
            return _USUAL * self._fixed
        if shares_limit:
            return _LEAST * self.seconds
        # A program that dumps more often from now on is followed sooner than its mean.
        mean = sum(self._lengths) / len(self._lengths)
        return _USUAL * min(mean, max(self._lengths[-_LATELY:]))


class _Writing:
    """A file of the burst that goes on."""

    def __init__(self, now: float, begun: float) -> None:
        self.begun = begun
        self.since = now
        self.last = now

    def goes_on(self, now: float, quiet: float) -> None:
        if now - self.last >= quiet:
            self.since = now  # it has rested meanwhile
        self.last = now


class Bursts:
    """Looks at a folder from time to time, and says when a dump is complete."""

    def __init__(self, quiet: float, interval: Interval, say: Say) -> None:
        """``quiet``: seconds without a change, after which a burst is over."""
        self._quiet = quiet
        self._interval = interval
        self._say = say
        self._known: Found | None = None
        self._burst: dict[str, _Writing] = {}
        self._told: set[str] = set()  # files that are written without end
        self._count = self._largest = 0

    def look(self, found: Found, now: float) -> Dump | None:
        """``found`` is there now: the dump that is complete by that, if one is."""
        self._note_changes(found, now)
        writing = {p for p in self._burst if self._is_written(p, now)}
        endless = {path for path in writing if self._is_endless(path, now)}
        files = [path for path in self._burst if path not in endless]
        self._tell_of(endless)
        if not files or writing - endless:
            return None
        return self._complete(files, found)

    @property
    def unfinished(self) -> list[str]:
        """Files that have changed, and are in no dump yet."""
        return sorted(self._burst)

    @property
    def going_on(self) -> bool:
        """Whether a burst will soon be over, as far as is known."""
        return bool(self._burst.keys() - self._told)

    def _note_changes(self, found: Found, now: float) -> None:
        begun = now if self._known is not None else -math.inf
        known = self._known or {}
        for path, state in found.items():
            if known.get(path) == state:
                continue
            if path in self._burst:
                self._burst[path].goes_on(now, self._quiet)
            else:
                self._burst[path] = _Writing(now, begun)
        for path in self._burst.keys() - found.keys():
            del self._burst[path]  # the program has removed it
        self._known = found

    def _is_written(self, path: str, now: float) -> bool:
        return now - self._burst[path].last < self._quiet

    def _is_endless(self, path: str, now: float) -> bool:
        patience = max(PATIENCE, 2 * self._interval.seconds)
        return now - self._burst[path].since > patience

    def _tell_of(self, endless: set[str]) -> None:
        new = sorted(endless - self._told)
        if new:
            names = abbreviate([on_a_line(path) for path in new])
            self._say(f"{names}: written without a pause, so left alone until it rests")
        self._told |= endless

    def _complete(self, files: list[str], found: Found) -> Dump:
        begun = min(self._burst.pop(path).begun for path in files)
        size = sum(found[path][1] for path in files)
        self._largest = max(self._largest, size)
        self._count = self._count + 1
        versions = {path: found[path][0] for path in files}
        is_full = size >= self._largest * _TRIFLE
        dump = Dump(self._count, versions, size, begun, is_full)
        self._interval.learn(dump)
        return dump


class Waiting:
    """The oldest goes first. While the process ends, the newest does, and each is tried
    once. Two threads use it: one gives, one takes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn = threading.Condition()
        self._dumps: list[Dump] = []
        self._failed: list[Dump] = []
        self._again = self._due = AGAIN
        self._ending = False

    def give(self, dump: Dump) -> None:
        """What failed before is tried again with it."""
        with self._turn:
            self._dumps.append(dump)
            self._take_failed()

    def end(self) -> None:
        """No more will come."""
        with self._turn:
            self._ending = True
            self._take_failed()

    def next(self) -> Dump | None:
        """Waits for one; None where there will be none."""
        with self._turn:
            while True:
                if self._failed and not self._ending and self._clock() >= self._due:
                    self._take_failed()
                if self._dumps:
                    return self._dumps.pop(-1 if self._ending else 0)
                if self._ending:
                    return None
                left = self._due - self._clock()
                self._turn.wait(max(0.0, left) if self._failed else None)

    def fail(self, dump: Dump) -> float:
        """Not all of it arrived: seconds until it is tried again; 0: it is not."""
        with self._turn:
            self._failed.append(dump)
            if self._ending:
                return 0.0
            wait = self._again
            self._again = min(2 * self._again, AT_MOST)
            self._due = self._clock() + wait
            return wait

    def succeed(self) -> None:
        """The destination takes dumps: the next failure is tried again soon."""
        self._again = AGAIN

    def has_newer(self) -> bool:
        """Whether a dump waits that is not only a log."""
        with self._turn:
            return any(dump.is_full for dump in self._dumps)

    @property
    def count(self) -> int:
        return len(self._dumps)

    @property
    def failed(self) -> list[Dump]:
        return list(self._failed)

    def _take_failed(self) -> None:
        self._dumps = sorted([*self._failed, *self._dumps])
        self._failed = []
        self._turn.notify_all()
