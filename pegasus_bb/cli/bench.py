"""pegasus-bb bench: how fast the storage of a site is."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pegasus_bb.bench.figures import figures
from pegasus_bb.bench.place import Place, place
from pegasus_bb.bench.plan import Plan
from pegasus_bb.bench.session import Session
from pegasus_bb.cli.bench_run import measure
from pegasus_bb.errors import UsageError
from pegasus_bb.units import parse_duration, parse_size

if TYPE_CHECKING:
    from pegasus_bb.bench.speedsfile import SpeedsFile


@click.command("bench", short_help="Measure how fast the storage is.")
@click.option(
    "--tier",
    "tiers",
    multiple=True,
    required=True,
    metavar="[NAME=]DIR",
    help="A folder on the tier NAME; without NAME its last part. Repeat it for each "
    "tier; the parallel file system is pfs.",
)
@click.option(
    "--blocks",
    default="64MiB",
    show_default=True,
    metavar="SIZE,...",
    help="Bytes that each process writes.",
)
@click.option(
    "--processes",
    default="1,4",
    show_default=True,
    metavar="N,...",
    help="How many write at once.",
)
@click.option(
    "--within",
    default="45s",
    show_default=True,
    metavar="TIME",
    help="Begin nothing that would end later.",
)
@click.option(
    "--speeds",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the figures into this file, for --bb-speeds. Other sites and tiers in "
    "it stay.",
)
@click.option("--site", help="The site of these tiers, for --speeds.")
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def command(
    tiers: tuple[str, ...],
    blocks: str,
    processes: str,
    within: str,
    speeds: Path | None,
    site: str | None,
    as_json: bool,
) -> None:
    """Write and read blocks from many processes on each tier, and print how fast it is.

    Everything is written into a new folder in each DIR, which is removed afterwards.

    Exit status: 0 if measured, even if the figures vary (the output says so); 82 if a
    process failed.
    """
    until = time.monotonic() + parse_duration(within)
    places = _places(tiers)
    target = _target(speeds, site, [place.name for place in places])
    plan = Plan(_ascending(blocks, parse_size), _ascending(processes, _count))
    session = Session(places, plan, until)
    measure(session, as_json)
    found = {tier.place.name: figures(tier).as_speeds() for tier in session.tiers}
    if target is None:
        _hint("to plan with these figures: --speeds FILE --site SITE")
        return
    target.put(found, _comment(session))
    _hint(
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


def _ascending(text: str, read: Callable[[str], int]) -> tuple[int, ...]:
    return tuple(sorted({read(word) for word in text.split(",")}))


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise UsageError(f"--processes: {text!r} is no number of processes")
    return int(text)


def _target(path: Path | None, site: str | None, names: list[str]) -> SpeedsFile | None:
    """Raises UsageError."""
    if path is None:
        if site:
            raise UsageError("--site goes with --speeds FILE")
        return None
    if not site:
        raise UsageError(f"--speeds {path}: add --site, its name in the site catalog")
    from pegasus_bb.bench.speedsfile import open_speeds  # needs a reader of YAML

    return open_speeds(path, site, names)


def _comment(session: Session) -> str:
    """The first line of the speeds file."""
    engine = session.engine.name if session.engine else ""
    names = ", ".join(tier.place.name for tier in session.tiers)
    host, day = socket.gethostname(), date.today()
    return f"{names}: measured by pegasus-bb bench ({engine}) on {host}, {day}"


def _hint(text: str) -> None:
    click.echo(text, err=True)
