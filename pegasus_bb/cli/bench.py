"""pegasus-bb bench: how fast the storage of a site is."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timezone
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.progress_bar import described_progress
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import columns, printable
from pegasus_bb.core.units import MIB, format_size, parse_size
from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.report.bench.bench_document import after, before, to_document
from pegasus_bb.report.bench.cells import Measurement, Operations, all_cells, certain
from pegasus_bb.report.bench.figures import (
    OPERATIONS,
    RATES,
    Figures,
    check_speeds,
    figures,
    write_speeds,
)
from pegasus_bb.report.bench.measured_tier import MeasuredFolder, place
from pegasus_bb.report.bench.session import Session, TierSession

_HEAD = ("block", "processes", "write MiB/s", "read MiB/s", "n")
_WIDTH = 90


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
    found = {tier.place.name: figures(tier).speeds for tier in session.tiers}
    write_speeds(speeds, site, found, _comment(session))
    _hint(
        f"{speeds} has the figures; next: pegasus-bb explain --bb-mode auto "
        f"--sites {site} --output-sites local --bb-speeds {speeds} WORKFLOW"
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
    names = ", ".join(tier.place.name for tier in session.tiers)
    host = socket.gethostname()
    day = date.today()
    return f"{names}: measured by pegasus-bb bench on {host}, {day}"


def _hint(text: str) -> None:
    click.echo(text, err=True)


def measure(session: Session, *, as_json: bool) -> None:
    notes = list(before(session.tiers))
    for sentence in notes:
        click.echo(f"pegasus-bb: {sentence}", err=True)
    began = time.monotonic()
    now = datetime.now(timezone.utc)
    run: dict[str, Any] = {"host": socket.gethostname(), "cores": os.cpu_count()}
    run |= {"time": now.isoformat(timespec="seconds"), "complete": False}
    with cleanly_ended():
        try:
            with described_progress(shown=not as_json) as tell:
                session.run(tell)
            run["complete"] = True
        except (KeyboardInterrupt, SystemExit):
            click.echo("pegasus-bb: interrupted; its files are removed", err=True)
            raise
        finally:
            run["seconds"] = round(time.monotonic() - began, 3)
            if any(tier.measured() for tier in session.tiers):
                _print(session, run, notes, as_json=as_json)


def _print(
    session: Session, run: dict[str, Any], notes: list[str], *, as_json: bool
) -> None:
    known = (tier for tier in session.tiers if tier.measured())
    found = {tier.place.name: figures(tier) for tier in known}
    remarks = list(after(session))
    if as_json:
        document = to_document(session, run, [*notes, *remarks], found)
        click.echo(json.dumps(document, indent=1))
        return
    lines = [*_table_lines(session), *map(_wrapped, remarks), *_figure_lines(found)]
    if not run["complete"]:
        lines.append("not complete: the benchmark was ended before that")
    click.echo("\n".join(lines))


def _table_lines(session: Session) -> Iterator[str]:
    for number, tier in enumerate(session.tiers):
        if number:
            yield ""
        yield _title(tier)
        rows = [_HEAD, *(_row(one) for one in tier.measured())]
        yield from columns(rows, right=range(len(_HEAD)))
        yield from map(_operations_line, (one for one in tier.operations if one.rates))


def _operations_line(one: Operations) -> str:
    count = "1 process" if one.processes == 1 else f"{one.processes} processes"
    rate = _share(one.rate, f"{one.rate.mean:.0f}" if one.rate else "")
    return f"small files, {count}: {rate.strip()} operations/s, n {len(one.rates)}"


def _wrapped(text: str) -> str:
    return fill(
        printable(text),
        _WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _figure_lines(found: Mapping[str, Figures]) -> Iterator[str]:
    yield ""
    names = (*RATES, "latency", *OPERATIONS)
    rows: list[tuple[str, ...]] = [("tier", *names)]
    for tier, measured in found.items():
        rows.append((tier, *(measured.speeds.get(name, "-") for name in names)))
    yield from columns(rows, right=range(1, len(names) + 1))
    yield from (f"{tier}: from {each.source}" for tier, each in found.items())


def _title(tier: TierSession) -> str:
    place = tier.place
    latency = tier.latency
    opening = f", {latency.mean * 1e6:.0f} us to open a file" if latency else ""
    return f"{place.name}: {place.path} ({place.kind}){opening}"


def _row(one: Measurement) -> tuple[str, ...]:
    return (
        format_size(one.cell.block),
        str(one.cell.processes),
        _figure(one.write),
        ("w " if one.warm else "") + _figure(one.read),
        str(len(one.writes)),
    )


def _figure(value: Stat | None) -> str:
    return "-" if value is None else _share(value, f"{value.mean / MIB:.1f}")


def _share(value: Stat | None, mean: str) -> str:
    """Mean and standard error; a star if that is too large."""
    share = f" +-{value.share:5.1%}" if value and value.share is not None else ""
    return f"{mean}{share}{' ' if certain(value) else '*'}"
