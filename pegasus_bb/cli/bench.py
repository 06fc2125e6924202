"""pegasus-bb bench: how fast the storage of a site is."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import click

from pegasus_bb.cli.bench_run import measure
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.report.bench.cells import all_cells
from pegasus_bb.report.bench.figures import check_speeds, figures, write_speeds
from pegasus_bb.report.bench.measured_tier import MeasuredFolder, place
from pegasus_bb.report.bench.session import Session


@click.command("bench")
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
    "--speeds",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the figures into this new file, for --bb-speeds.",
)
@click.option("--site", help="The site of these tiers, for --speeds.")
@click.option("--json", "as_json", is_flag=True, help="Print every figure as JSON.")
def command(
    *,
    tiers: tuple[str, ...],
    blocks: str,
    processes: str,
    speeds: Path | None,
    site: str | None,
    as_json: bool,
) -> None:
    """Write and read blocks from many processes on each tier, and print how fast it is.

    Everything is written into a new folder in each DIR, which is removed afterwards.

    Exit status: 0 if measured, even if the figures vary (the output says so); 82 if a
    process failed.
    """
    places = _places(tiers)
    if (speeds is None) != (site is None):
        raise UsageError("--speeds FILE and --site SITE go together")
    if speeds is not None:
        check_speeds(speeds, [place.name for place in places])
    sizes = [parse_size(word) for word in blocks.split(",")]
    counts = [_count(word) for word in processes.split(",")]
    session = Session(places, all_cells(sizes, counts))
    measure(session, as_json=as_json)
    if speeds is None or site is None:
        _hint("to plan with these figures: --speeds FILE --site SITE")
        return
    found = {tier.place.name: figures(tier).as_speeds() for tier in session.tiers}
    write_speeds(speeds, site, found, _comment(session))
    _hint(
        f"{speeds} has the figures; next: pegasus-bb explain --sites {site} "
        f"--bb-speeds {speeds} WORKFLOW"
    )


def _places(texts: Iterable[str]) -> list[MeasuredFolder]:
    found: dict[str, MeasuredFolder] = {}
    for text in texts:
        one = place(text)
        if one.name in found:
            raise UsageError(
                f"--tier {text}: another tier is called {one.name}; say --tier "
                f"OTHER={one.path}"
            )
        found[one.name] = one
    return list(found.values())


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise UsageError(f"--processes: {text!r} is no number of processes")
    return int(text)


def _comment(session: Session) -> str:
    engine = session.engine.name if session.engine else ""
    names = ", ".join(tier.place.name for tier in session.tiers)
    host = socket.gethostname()
    day = date.today()
    return f"{names}: measured by pegasus-bb bench ({engine}) on {host}, {day}"


def _hint(text: str) -> None:
    click.echo(text, err=True)
