"""Copies complete dumps, one after the other, in a thread of its own.

Each is spread over the time until the next is expected. Nothing is given up: what did
not arrive is tried again. While the process ends, all goes at full speed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.core.paths import is_below
from pegasus_bb.core.units import format_duration, format_files, format_size
from pegasus_bb.runtime.draining.buffer import WatchedBuffer
from pegasus_bb.runtime.draining.dumps import Dump, Interval, Waiting
from pegasus_bb.runtime.draining.pace import Drain, DrainTargetPace, Pace
from pegasus_bb.runtime.draining.safe import Arrivals
from pegasus_bb.runtime.draining.scan import Say, Version, version_of
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed, explained, on_a_line
from pegasus_bb.runtime.staging.items import Folder
from pegasus_bb.runtime.staging.stage_tree import Stage

_TOLD = 3  # failures of a dump


class Route(NamedTuple):
    """What is drained to where, and how."""

    source: str  # the watched folder, by its full path
    dest: str
    targets: list[DrainTargetPace] = []  # noqa: RUF012 - never changed
    log: str = ""  # file that gets a line for each segment


class Drainer:
    def __init__(
        self,
        route: Route,
        arrivals: Arrivals,
        buffer: WatchedBuffer,
        *,
        interval: Interval,
        say: Say,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``say`` hears what a person may want to know."""
        self._route = route
        self._arrivals = arrivals
        self._buffer = buffer
        self._interval = interval
        self._say = say
        self._clock = clock
        self._run = os.urandom(8).hex()
        self._mount = _mount_point(route.dest)  # of the destination
        self._waiting = Waiting(clock)
        self._lock = threading.Lock()
        self._pace: Pace | None = None
        self._hurries = False
        self.ended = threading.Event()
        self.fault: BaseException | None = None  # a mistake of ours
        self.files = self.bytes = self.removed = 0

    def start(self) -> None:
        threading.Thread(target=self._work, daemon=True).start()

    def give(self, dump: Dump) -> None:
        """``dump`` is complete. What is still being copied shares its time; if another
        one waits already, it goes at full speed."""
        with self._lock:
            self._buffer.add(dump)
            if self._pace is not None and dump.is_full:
                how = self._overtake(self._pace, dump)
                late = f"is complete, and the one before is not safe yet: {how}"
                self._say(f"{_name(dump)} {late}")
            self._waiting.give(dump)

    def hurry(self) -> None:
        """From now on all goes at full speed."""
        with self._lock:
            self._hurries = True
            if self._pace is not None:
                self._pace.hurry()

    def end(self) -> None:
        """No dump will come any more. ``ended`` is set when all was tried."""
        self.hurry()
        self._waiting.end()

    def unsafe(self) -> int:
        """Files that did not arrive."""
        return sum(len(self._left(dump)) for dump in self._waiting.failed)

    def seconds_for(self, dump: Dump) -> float:
        """Over which it is spread; 0: there is no time, or it is not known."""
        if self._hurries or self._waiting.has_newer() or not self._interval.seconds:
            return 0.0
        targets = self._route.targets
        spread = self._interval.spread(
            shares_limit=any(each.limit or each.curve for each in targets)
        )
        return max(0.0, dump.begun + spread - self._clock())

    @property
    def behind(self) -> int:
        """Complete dumps that wait for their turn."""
        return self._waiting.count

    def drain_next(self) -> bool:
        """Wait for a dump and drain it; False where there will be none."""
        dump = self._waiting.next()
        if dump is None:
            return False
        self._remove_older()
        self._drain(dump)
        self._remove_older()
        return True

    def _work(self) -> None:
        try:
            while self.drain_next():
                pass
        except BaseException as error:
            self.fault = error
        self.ended.set()

    def _overtake(self, pace: Pace, dump: Dump) -> str:
        """``pace`` is of the one before: how that goes on. Both have one rate then."""
        seconds = self.seconds_for(dump)
        left = pace.left
        if not seconds:
            pace.hurry()
            return "full speed"
        pace.spread(seconds * left / max(1, left + dump.size))
        return "both share the time until the next"

    def _drain(self, dump: Dump) -> None:
        begun = self._clock()
        failures: list[CopyFailed] = []
        with self._lock:
            pace = self._pace = self._new_pace(dump)
        try:
            stage = self._copy(dump, pace, failures.append)
        except CopyFailed as failure:  # the journal takes no line
            failures.append(failure)
        else:
            self.files += stage.files
            self.bytes += stage.bytes
        finally:
            with self._lock:
                self._pace = None
            pace.close()
        left = self._left(dump)
        if left:
            self._tell_of_failure(dump, left, failures)
        else:
            self._waiting.succeed()
            self._tell_of(dump, self._clock() - begun)

    def _new_pace(self, dump: Dump) -> Pace:
        route = self._route
        seconds = self.seconds_for(dump)
        drain = Drain(self._run, dump.size, seconds, route.targets, route.log)
        return Pace(drain, say=lambda message: self._say(f"{_name(dump)}: {message}"))

    def _copy(
        self, dump: Dump, pace: Pace, fail: Callable[[CopyFailed], None]
    ) -> Stage:
        """Raises CopyFailed where nothing can be noted."""
        source = self._route.source
        dest = self._route.dest
        try:
            folders = Folder.open(source), Folder.open(dest)
        except OSError as error:
            raise explained(error, source, dest) from error
        if is_below(self._mount, _mount_point(dest)):
            raise CopyFailed(
                f"{on_a_line(dest)}: {on_a_line(self._mount)} was mounted at the "
                "start, and is not any more; mount it again"
            )

        def wanted(path: str, found: os.stat_result) -> bool:
            return dump.files.get(path) == version_of(found)

        stage = Stage(
            source,
            dest,
            self._arrivals,
            digest=SHA256,
            fail=fail,
            folders=folders,
            wanted=wanted,
            segments=pace,
        )
        stage.run()
        return stage

    def _left(self, dump: Dump) -> list[str]:
        """Files that are on the buffer as they were, and not safe."""
        return [
            name
            for name, version in dump.files.items()
            if self._version(name) == version
            and not self._arrivals.is_safe(name, version)
        ]

    def _version(self, name: str) -> Version | None:
        try:
            return version_of(os.lstat(os.path.join(self._route.source, name)))
        except OSError:
            return None

    def _never_came(self, name: str, version: Version) -> bool:
        """It was not there any more when its turn came."""
        came = self._arrivals.came(version)
        return not came and self._version(name) != version

    def _remove_older(self) -> None:
        with self._lock:
            self.removed += self._buffer.remove_older()

    def _tell_of(self, dump: Dump, seconds: float) -> None:
        files = format_files(len(dump.files))
        size = format_size(dump.size)
        message = f"{files}, {size}, safe after {format_duration(seconds)}"
        gone = sum(self._never_came(*each) for each in dump.files.items())
        if gone:
            message += f"; {gone} of them had been removed, or written again, by then"
        self._say(f"{_name(dump)}: {message}")

    def _tell_of_failure(
        self, dump: Dump, left: list[str], failures: list[CopyFailed]
    ) -> None:
        for failure in failures[:_TOLD]:
            self._say(str(failure))
        wait = self._waiting.fail(dump)
        what = f"{len(left)} of {format_files(len(dump.files))} did not arrive"
        then = f"tried again in {format_duration(wait)}, or with the next dump"
        self._say(f"{_name(dump)}: {what}; {then if wait else 'they stay here'}")


def _mount_point(folder: str) -> str:
    path = os.path.realpath(folder)
    while not os.path.ismount(path):
        path = os.path.dirname(path)
    return path


def _name(dump: Dump) -> str:
    return f"dump {dump.number}"
