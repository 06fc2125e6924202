"""What a person sees of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from pegasus_bb.engine.terminal import unbreakable
from pegasus_bb.errors import UsageError
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import readable_decision
from pegasus_bb.units import format_duration

# Beyond this many nodes a log gets a line per percent and per failure, not per node.
_LINES = 500
_NAMES = 3
_LOOK = 0.5  # seconds between two looks at the reservation's files


class Watcher:
    """What the engine tells while it runs; this one says nothing."""

    def begin(self, total: int, done: int) -> None:
        """The run starts; ``done`` of ``total`` nodes were done before."""

    def running(self, name: str) -> None:
        """A script or the job of a node was started."""

    def waiting(self, name: str) -> None:
        """A script of the node said: ask again later."""

    def ended(self, name: str, how: str, seconds: float) -> None:
        """A node came to an end: done, failed, or failed with a retry to come."""

    def note(self, message: str) -> None:
        """The user should know this while the run goes on."""

    def warn(self, message: str) -> None:
        """Something stands still, perhaps until the user mends it."""

    def close(self) -> None:
        """The run is over, however."""


class Quiet(Watcher):
    """Warnings alone: `run --quiet` while it goes well."""

    def __init__(self, out: TextIO) -> None:
        self._out = unbreakable(out)

    def warn(self, message: str) -> None:
        print(message, file=self._out, flush=True)


class Lines(Watcher):
    """One line per node that ends, for logs."""

    def __init__(self, out: TextIO, submit_dir: Path | None = None) -> None:
        self._out, self._dir = out, submit_dir
        self._total = self._done = 0
        self._waiting: set[str] = set()

    def begin(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        before = f", {done} of them done before" if done else ""
        self._say(f"{total} nodes{before}")

    def running(self, name: str) -> None:
        self._waiting.discard(name)

    def waiting(self, name: str) -> None:
        if name not in self._waiting:  # once, however often it asks
            self._say(f"{name} waits: {reservation_words(self._dir) or 'not yet'}")
        self._waiting.add(name)

    def ended(self, name: str, how: str, seconds: float) -> None:
        self._done += how == "done"
        step = max(1, self._total // 100) if self._total > _LINES else 1
        if how != "done" or self._done % step == 0 or self._done == self._total:
            took = format_duration(seconds)
            self._say(f"[{self._done}/{self._total}] {name}: {how} ({took})")

    def note(self, message: str) -> None:
        self._say(message)

    def warn(self, message: str) -> None:
        self.note(message)

    def close(self) -> None:
        self._out.flush()

    def _say(self, words: str) -> None:
        print(words, file=self._out, flush=True)


class Bar(Watcher):
    """The reservation, nodes done, the time, and the names of some that run."""

    def __init__(self, console: Console, submit_dir: Path | None = None) -> None:
        self._names: dict[str, None] = {}
        self._reservation = _Reservation(submit_dir)
        self._bar = Progress(
            self._reservation,
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[names]}", markup=False),
            console=console,
            refresh_per_second=5,
        )
        self._task: Any = None

    def begin(self, total: int, done: int) -> None:
        self._task = self._bar.add_task("", total=total, completed=done, names="")
        self._bar.start()

    def running(self, name: str) -> None:
        self._names[name] = None
        self._show(0)

    def waiting(self, name: str) -> None:
        self._names.pop(name, None)
        self._show(0)

    def ended(self, name: str, how: str, seconds: float) -> None:
        self._names.pop(name, None)
        if how != "done":
            self._bar.console.print(f"{name}: {how}", markup=False, highlight=False)
        self._show(1 if how == "done" else 0)

    def note(self, message: str) -> None:
        self._bar.console.print(message, markup=False, highlight=False)

    def warn(self, message: str) -> None:
        self.note(message)

    def close(self) -> None:
        self._reservation.look()  # what stays on the screen is how it ended
        self._bar.stop()

    def _show(self, advance: int) -> None:
        names = list(self._names)
        more = f" +{len(names) - _NAMES}" if len(names) > _NAMES else ""
        self._bar.update(
            self._task, advance=advance, names=", ".join(names[:_NAMES]) + more
        )


class _Reservation(ProgressColumn):
    """How far the reservation is, also while no node begins or ends."""

    def __init__(self, submit_dir: Path | None) -> None:
        super().__init__()
        self._dir = submit_dir
        self.look()

    def look(self) -> None:
        self._words = reservation_words(self._dir) or "nodes"
        self._looked = time.monotonic()

    def render(self, task: Task) -> Text:
        if time.monotonic() - self._looked > _LOOK:
            self.look()
        return Text(self._words)


def choose(submit_dir: Path | None = None, out: TextIO | None = None) -> Watcher:
    """A bar where ``out`` (standard error) is a terminal, lines where it is not."""
    stream = unbreakable(out or sys.stderr)
    if stream.isatty():
        return Bar(Console(file=stream), submit_dir)
    return Lines(stream, submit_dir)


def reservation_words(submit_dir: Path | None) -> str:
    """How far the reservation is, from the run's own files; empty without one."""
    bb = BBDir(str(submit_dir / "bb")) if submit_dir is not None else None
    if bb is None or not bb.has_request:
        return ""
    if readable_decision(bb):
        return "on the PFS, no burst buffer"
    try:
        noted = bb.reservation()
    except UsageError:  # the programs that need it will say so
        return "burst buffer"
    if noted is None:
        return "burst buffer not asked for yet"
    if noted.released_at is not None:
        return "burst buffer given back"
    if noted.failure:
        return "burst buffer refused"
    if reservation_identity.was_ready(bb, noted):
        return "burst buffer up"
    if Path(bb.file("gate.json")).exists():
        return "waiting for the burst buffer"
    return "burst buffer asked for"
