"""Run a benchmark, show its progress, and print it even if it is interrupted."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from textwrap import fill
from typing import Any

import click

from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.progress_bar import described_progress
from pegasus_bb.core.text import columns, printable
from pegasus_bb.core.units import MIB, format_size
from pegasus_bb.model.stat import Stat
from pegasus_bb.report.bench.bench_document import after, before, to_document
from pegasus_bb.report.bench.cells import Measurement, Operations, certain
from pegasus_bb.report.bench.figures import OPERATIONS, RATES, Figures, figures
from pegasus_bb.report.bench.session import Session, TierSession

_HEAD = ("block", "processes", "write MiB/s", "read MiB/s", "n")
_WIDTH = 90


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
    lines = [*_table_lines(session), *map(_wrapped, remarks), "", *_figure_lines(found)]
    if not run["complete"]:
        lines.append("not complete: the benchmark was ended before that")
    click.echo("\n".join(lines))


def _table_lines(session: Session) -> Iterator[str]:
    for tier in session.tiers:
        yield _title(tier)
        rows = [_HEAD, *(_row(one) for one in tier.measured())]
        yield from columns(rows, right=range(len(_HEAD)))
        yield from map(_operations_line, (one for one in tier.operations if one.rates))
        yield ""
    if session.engine is not None:
        yield _wrapped(f"engine: {session.engine.name} ({session.engine.because})")


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
    names = (*RATES, "latency", *OPERATIONS)
    rows: list[tuple[str, ...]] = [("tier", *names)]
    for tier, measured in found.items():
        speeds = measured.as_speeds()
        rows.append((tier, *(speeds.get(name, "-") for name in names)))
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
