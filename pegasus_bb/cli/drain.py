"""pegasus-bb drain: checkpoints of a job go to the PFS, at the pace of the job."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

import click

from pegasus_bb.core.errors import DONE, NOT_COPIED, UsageError
from pegasus_bb.core.text import printable
from pegasus_bb.core.units import format_files, format_size, parse_duration
from pegasus_bb.model.drain_policies import read_rule
from pegasus_bb.runtime.draining.buffer import ALL, WatchedBuffer
from pegasus_bb.runtime.draining.drainer import Drainer, Route
from pegasus_bb.runtime.draining.dumps import Bursts, Interval
from pegasus_bb.runtime.draining.pace import DrainTargetPace
from pegasus_bb.runtime.draining.safe import Arrivals
from pegasus_bb.runtime.draining.watching import Watching
from pegasus_bb.runtime.staging.stage_journal import journal_path
from pegasus_bb.runtime.staging.stage_tree import check_places

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_ENDS = (signal.SIG_DFL, signal.default_int_handler)  # an ignored one stays ignored


@click.command("drain")
@click.option(
    "--interval",
    default="auto",
    show_default=True,
    metavar="auto|T",
    help="From one dump to the next, such as 10m; auto: learned from the dumps.",
)
@click.option(
    "--settle",
    default="5s",
    show_default=True,
    metavar="T",
    help="A dump is complete when none of its files has changed for so long.",
)
@click.option(
    "--keep",
    default="1",
    show_default=True,
    metavar="N|all",
    help="Dumps that stay on the buffer: the newest N. Others go when they are safe.",
)
@click.option("--rate", metavar="RATE", help="Not faster than that, such as 32MiB/s.")
@click.option(
    "--registry",
    type=click.Path(),
    help="Folder through which all who name it share --rate.",
)
@click.option(
    "--log", type=click.Path(), help="File that gets a line for each segment."
)
@click.argument("watched", metavar="WATCHED_DIR", type=click.Path())
@click.argument("dest", type=click.Path())
def command(
    *,
    interval: str,
    settle: str,
    keep: str,
    rate: str | None,
    registry: str | None,
    log: str | None,
    watched: str,
    dest: str,
) -> None:
    """Copy each dump that a program writes into WATCHED_DIR to DEST.

    Start it in the background, beside the program. Each dump is spread over the time
    until the next one. SIGTERM ends it: what is complete goes at full speed, and then
    it ends.

    Exit status: 0 if all complete dumps are safe; 81 if some files did not arrive.
    """
    length = 0 if interval == "auto" else _seconds("--interval", interval)
    quiet = _seconds("--settle", settle)
    kept = _kept(keep)
    source, to = _places(watched, dest)
    journal = journal_path(source, to)
    targets = _targets(rate, registry, journal)
    arrivals = Arrivals(journal, source, to)
    known = Interval(length)
    route = Route(source, to, targets, os.path.abspath(log) if log else "")
    drainer = Drainer(
        route, arrivals, WatchedBuffer(source, arrivals, kept), interval=known, say=_say
    )
    watching = Watching(source, quiet, Bursts(quiet, known, _say), drainer, _say)
    _end_on_signals(watching.end)
    _say(f"watches {source}, drains it to {to}; what arrived is noted in {journal}")
    all_safe = watching.run()
    _say(_summary(drainer))
    sys.exit(DONE if all_safe else NOT_COPIED)


def _places(watched: str, dest: str) -> tuple[str, str]:
    """Full paths of both, DEST made. Raises UsageError."""
    for what, path in (("WATCHED_DIR", watched), ("DEST", dest)):
        if not path:
            raise UsageError(f"{what} is empty: is a variable of the job not set?")
    source = os.path.abspath(watched)
    to = os.path.abspath(dest)
    if not os.path.isdir(source):
        raise UsageError(f"{watched}: is no folder; make it before (mkdir -p)")
    check_places(source, to)
    _make("DEST", to)
    return source, to


def _make(what: str, folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        why = f"{what} cannot be made ({error.strerror}); name a folder of yours"
        raise UsageError(f"{folder}: {why}") from error


def _seconds(option: str, text: str) -> int:
    seconds = parse_duration(text)
    if not seconds:
        raise UsageError(f"{option} {text}: is a time above zero, such as 5s or 10m")
    return seconds


def _kept(text: str) -> int:
    if text == "all":
        return ALL
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise UsageError(f"--keep {text}: is a number above zero, or all")
    return int(text)


def _targets(
    rate: str | None, registry: str | None, journal: str
) -> list[DrainTargetPace]:
    if rate is None:
        if registry is not None:
            raise UsageError("--registry shares a rate: say --rate as well")
        return []
    try:
        limit = read_rule(rate).rate
    except UsageError:
        limit = 0
    if not limit:
        raise UsageError(f"--rate {rate}: not a rate such as 32MiB/s")
    folder = os.path.abspath(registry) if registry else f"{journal}.registry"
    _make("the registry", folder)
    return [DrainTargetPace(registry or "of --rate", folder, float(limit))]


def _end_on_signals(end: Callable[[], None]) -> None:
    ours = [number for number in _SIGNALS if signal.getsignal(number) in _ENDS]

    def told(number: int, frame: FrameType | None) -> None:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)  # a second one ends it at once
        end()

    for number in ours:
        signal.signal(number, told)


def _summary(drainer: Drainer) -> str:
    line = f"{format_files(drainer.files)}, {format_size(drainer.bytes)} drained"
    if drainer.removed:
        line += f"; {format_size(drainer.removed)} removed from the buffer"
    unsafe = drainer.unsafe()
    if unsafe:
        line += f"; {format_files(unsafe)} did NOT arrive: `pegasus-bb stage` the rest"
    return line


def _say(message: str) -> None:
    click.echo(f"pegasus-bb drain: {printable(message)}", err=True)
