"""What a user sees of a run: a line per node that ends, or warnings alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TextIO

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.units import format_count, format_duration, format_size
from pegasus_bb.run.engine.terminal import unbreakable
from pegasus_bb.run.engine.tier_usage import bytes_below
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.gate import waiting_reason

_SHARE = 20  # of the time, one part is spent on looking
_LEAST = 1.0  # seconds between two looks
_LONGEST = 2.0  # seconds of one look
# Beyond this many nodes a log gets a line per percent and per failure, not per node.
_LINES = 500
_SHORTEST = 4  # letters of a node's name that are always shown


class OverUse:
    """Looks at the tier from time to time, and speaks once."""

    def __init__(self, submit_dir: Path | None) -> None:
        self._bb = BBDir(str(submit_dir / "bb")) if submit_dir else None
        self._next = 0.0

    def message(self) -> str:
        """Empty unless it is due, this machine sees the tier, and it holds too much."""
        began = time.monotonic()
        if self._bb is None or began < self._next:
            return ""
        message = _over_use(self._bb)
        took = time.monotonic() - began
        self._next = began + max(_LEAST, _SHARE * took)
        if message:
            self._bb = None
        return message


def _over_use(bb: BBDir) -> str:
    try:
        if not bb.has_request or bb.reservation() is None:
            return ""
        request = bb.request()
        path = open_backend(request.backend, request.settings).path(request, os.environ)
    except PegasusBBError:  # not up yet, given back, or not seen from here
        return ""
    used, _ = bytes_below(Path(path), _LONGEST)
    if used <= request.capacity:
        return ""
    return (
        f"MORE THAN RESERVED: {format_size(used)} of {format_size(request.capacity)} "
        f"are used on {request.name}, at the cost of other runs on this tier; next "
        "time plan with a larger --bb-capacity"
    )


class Watcher:
    """Receives the events of a run; this base class ignores them all."""

    def begin(self, total: int, done: int) -> None:
        """The run starts; ``done`` of ``total`` nodes were done before."""

    def running(self, name: str) -> None:
        """A script or the job of a node was started."""

    def waiting(self, name: str) -> None:
        """A script of the node was deferred: it runs again later. Called again if the
        reason of the gate has changed."""

    def ended(self, name: str, how: str, seconds: float) -> None:
        """A node ended: done, failed, or failed with a retry to come."""

    def note(self, message: str) -> None:
        """The user should know this while the run goes on."""

    def warn(self, message: str) -> None:
        """Something is stuck, perhaps until the user repairs it."""

    def close(self) -> None:
        """The run is over, successful or not."""


class Quiet(Watcher):
    """Shows warnings only, for `run --quiet`."""

    def __init__(self, out: TextIO, submit_dir: Path | None = None) -> None:
        self._out = unbreakable(out)
        self._over_use = OverUse(submit_dir)

    def ended(self, name: str, how: str, seconds: float) -> None:
        self._warn_of_over_use()

    def _warn_of_over_use(self) -> None:
        message = self._over_use.message()
        if message:
            self.warn(message)

    def warn(self, message: str) -> None:
        self._say(message)

    def _say(self, message: str) -> None:
        print(message, file=self._out, flush=True)


class Lines(Quiet):
    def __init__(self, out: TextIO, submit_dir: Path | None = None) -> None:
        super().__init__(out, submit_dir)
        self._bb = BBDir(str(submit_dir / "bb")) if submit_dir else None
        self._total = self._done = 0
        self._waiting: dict[str, str] = {}  # by node: what was said

    def begin(self, total: int, done: int) -> None:
        self._total = total
        self._done = done
        before = f", {done} of them done before" if done else ""
        self._say(f"{format_count(total, 'node')}{before}")

    def waiting(self, name: str) -> None:
        reason = waiting_reason(self._bb) if self._bb is not None else None
        said = "waits: not yet"
        if reason is not None:
            said = f"waits for the burst buffer{': ' if reason else ''}{reason}"
        if self._waiting.get(name) != said:  # once, however often it is deferred
            self._say(f"{name} {said}")
        self._waiting[name] = said

    def ended(self, name: str, how: str, seconds: float) -> None:
        self._done += how == "done"
        step = max(1, self._total // 100) if self._total > _LINES else 1
        if how != "done" or self._done % step == 0 or self._done == self._total:
            count = f"[{self._done}/{self._total}] "
            took = format_duration(seconds)
            self._say(shortened(count, name, f": {how} ({took})", self._width()))
        self._warn_of_over_use()

    def note(self, message: str) -> None:
        self._say(message)

    def close(self) -> None:
        self._out.flush()

    def _width(self) -> int:
        """Current number of columns of the terminal; 0 without a terminal."""
        try:
            return os.get_terminal_size(self._out.fileno()).columns
        except (OSError, ValueError):  # no terminal, or no file
            return 0


def shortened(before: str, name: str, after: str, width: int) -> str:
    """One line of at most ``width`` columns, by leaving out the middle of ``name``;
    not shortened where ``width`` is 0, as in a log."""
    over = len(before) + len(name) + len(after) - width
    left = len(name) - over - 1
    if not width or over <= 0 or left < _SHORTEST:
        return before + name + after
    end = left // 2
    return f"{before}{name[: left - end]}\u2026{name[len(name) - end :]}{after}"
