"""pegasus-bb bench: how fast the storage of a site really is."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pegasus_bb.bench.choice import ENGINES
from pegasus_bb.bench.choice import launcher as launcher_of
from pegasus_bb.bench.figures import figures
from pegasus_bb.bench.measuring import Limits
from pegasus_bb.bench.place import Place, place
from pegasus_bb.bench.plan import FULL, QUICK, Layout, Mode, Plan
from pegasus_bb.bench.session import Session
from pegasus_bb.cli.bench_run import measure
from pegasus_bb.errors import UsageError
from pegasus_bb.units import parse_duration, parse_size

if TYPE_CHECKING:
    from pegasus_bb.bench.speedsfile import SpeedsFile

_QUICK, _FULL = "45s", "1h"  # that --within is
_GRACE = 10.0  # seconds: what has begun by then may end


@click.command("bench", short_help="Measure how fast the storage is.")
@click.option(
    "--tier",
    "tiers",
    multiple=True,
    required=True,
    metavar="[NAME=]DIR",
    help="A folder on the tier NAME; without NAME its last part. Again for each tier; "
    "the parallel file system is pfs.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Blocks of 64MiB from 1 and from 4 processes: ends in a minute.",
)
@click.option("--blocks", metavar="SIZE,...", help="What each process writes.")
@click.option("--processes", metavar="N,...", help="How many write at once.")
@click.option("--transfer", metavar="SIZE", help="Bytes of each call.  [1MiB]")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice([mode.value for mode in Mode]),
    help="With fsync, with direct I/O, with neither.  [all]",
)
@click.option(
    "--layout",
    "layouts",
    multiple=True,
    type=click.Choice([layout.value for layout in Layout]),
    help="[both]",
)
@click.option(
    "--error",
    type=click.FloatRange(0, 100, min_open=True),
    default=5.0,
    show_default=True,
    help="Repeat until the standard error is at most so many per cent.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="And at most so often.",
)
@click.option(
    "--within", metavar="TIME", help=f"And so long.  [{_FULL}; --quick: {_QUICK}]"
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="auto: ior where it is installed and runs, else our own.",
)
@click.option(
    "--launcher",
    metavar="TEXT",
    help="Starts the processes of ior, {n} being how many.  [srun in a job of Slurm's, "
    "else mpiexec, mpirun]",
)
@click.option(
    "--speeds",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the figures here, for --bb-speeds. Other sites and tiers stay.",
)
@click.option("--site", help="Whose tiers these are.")
@click.option(
    "--slots", type=click.IntRange(1), help="Jobs that run at the same time there."
)
@click.option("--json", "as_json", is_flag=True, help="Every figure, as JSON.")
def command(
    tiers: tuple[str, ...],
    quick: bool,
    error: float,
    repetitions: int,
    within: str | None,
    engine: str,
    launcher: str | None,
    speeds: Path | None,
    site: str | None,
    slots: int | None,
    as_json: bool,
    **plan: Any,
) -> None:
    """Write and read blocks from many processes on each tier, and say how fast it was.

    Everything is written into a new folder of each DIR, which is gone afterwards.

    Exit status: 0 measured, however noisily (it is said); 82 a process failed.
    """
    limits = Limits(
        error / 100,
        repetitions,
        until=time.monotonic() + parse_duration(within or (_QUICK if quick else _FULL)),
        grace=_GRACE,
    )
    places = _places(tiers)
    target = _target(speeds, site, slots, [place.name for place in places])
    launch = launcher_of(launcher, os.environ)
    session = Session(places, _plan(QUICK if quick else FULL, **plan), limits)
    measure(session, engine, launch, as_json)
    found = {tier.place.name: figures(tier) for tier in session.tiers}
    if target is None:
        _say("to plan by these figures: --speeds FILE --site SITE")
        return
    target.put({n: one.as_speeds() for n, one in found.items()}, slots, _head(session))
    _say(
        f"{target.path} has the figures; next: pegasus-bb explain --sites {site} "
        f"--bb-speeds {target.path} WORKFLOW"
    )


def _places(texts: Iterable[str]) -> list[Place]:
    """Raises UsageError."""
    found: dict[str, Place] = {}
    for text in texts:
        one = place(text)
        if one.name in found:
            raise UsageError(
                f"--tier {text}: another tier is called {one.name}; say --tier "
                f"OTHER={one.path}"
            )
        found[one.name] = one
    return list(found.values())


def _plan(
    plan: Plan,
    blocks: str | None,
    processes: str | None,
    transfer: str | None,
    modes: tuple[str, ...],
    layouts: tuple[str, ...],
) -> Plan:
    """``plan``, but what was said. Raises UsageError."""
    said: dict[str, Any] = {}
    if blocks is not None:
        said["blocks"] = _ascending(blocks, parse_size)
    if processes is not None:
        said["processes"] = _ascending(processes, _count)
    if transfer is not None:
        said["transfer"] = parse_size(transfer)
    if modes:
        said["modes"] = tuple(mode for mode in Mode if mode.value in modes)
    if layouts:
        said["layouts"] = tuple(one for one in Layout if one.value in layouts)
    return replace(plan, **said)


def _ascending(text: str, read: Callable[[str], int]) -> tuple[int, ...]:
    return tuple(sorted({read(word) for word in text.split(",")}))


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise UsageError(f"--processes: {text!r} is no number of processes")
    return int(text)


def _target(
    path: Path | None, site: str | None, slots: int | None, names: list[str]
) -> SpeedsFile | None:
    """Raises UsageError."""
    if path is None:
        if site or slots:
            raise UsageError("--site and --slots go with --speeds FILE")
        return None
    if not site:
        raise UsageError(
            f"--speeds {path}: of which site? --site, as the catalog has it"
        )
    from pegasus_bb.bench.speedsfile import open_speeds  # needs a reader of YAML

    return open_speeds(path, site, names)


def _head(session: Session) -> str:
    """What a reader of the file has to know."""
    who = session.engine.name if session.engine else ""
    names = ", ".join(tier.place.name for tier in session.tiers)
    return (
        f"{names}: measured by pegasus-bb bench ({who}) on {socket.gethostname()}, "
        f"{date.today()}"
    )


def _say(text: str) -> None:
    click.echo(text, err=True)
