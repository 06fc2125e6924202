"""pegasus-bb ls: every reservation of this user, and what became of it."""

from __future__ import annotations

import gc
import json
import sys
import time
from dataclasses import asdict

import click

from pegasus_bb.cli.output import terminal_width
from pegasus_bb.core.text import columns, one_line
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.model.reservation import State
from pegasus_bb.run.inventory.listing import list_reservations
from pegasus_bb.run.inventory.run_state import FAILED, STOPPED, ReservationRecord

_HEAD = ("reservation", "site/tier", "backend", "size", "state", "age", "run", "doing")
_RIGHT = (3, 5)


@click.command("ls")
@click.option("--all", "everything", is_flag=True, help="Include those given back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def command(*, everything: bool, as_json: bool) -> None:
    """List your reservations: the state of each, what its run is doing, and the next
    command. Those that the scheduler lists and the ledger does not are shown, too.
    Changes nothing.
    """
    gc.disable()  # of a long ledger, half the time went into looking for garbage
    found = list_reservations(everything=everything)
    if as_json:
        document = [asdict(record) for record in found]
        click.echo(json.dumps(document, indent=2))
    elif not found:
        more = "" if everything else " (pegasus-bb ls --all shows those given back)"
        click.echo(f"no reservations{more}")
    else:
        click.echo(
            "\n".join([*table(found, terminal_width(sys.stdout)), *remarks(found)])
        )


def table(found: list[ReservationRecord], width: int | None = None) -> list[str]:
    """No line is longer than ``width`` if it is so without the backends."""
    now = time.time()
    rows = [_HEAD, *(_row(record, now) for record in found)]
    lines = columns(rows, _RIGHT)
    if width is None or max(map(len, lines)) <= width:
        return lines
    return columns(([*row[:2], *row[3:]] for row in rows), (2, 4))


def _row(record: ReservationRecord, now: float) -> tuple[str, ...]:
    age = _age(now - record.asked_at) if record.asked_at else "-"
    place = f"{record.site}/{record.tier}" if record.site else "-"
    return (
        record.name,
        place,
        record.backend,
        format_size(record.size),
        record.state or record.ended,
        age,
        record.label or "-",
        _doing(record),
    )


def _doing(record: ReservationRecord) -> str:
    stands = record.state not in ("", State.ABSENT.value)
    kept = stands and record.run in (FAILED, STOPPED)
    return f"{record.run}, reservation kept" if kept else record.run or "-"


def _age(seconds: float) -> str:
    days = int(seconds) // 86400
    return f"{days} d" if days > 1 else format_duration(max(0.0, seconds))


def remarks(found: list[ReservationRecord]) -> list[str]:
    """What does not fit into a table: where, why, and the next commands."""
    lines: list[str] = []
    for record in found:
        about = (
            "" if record.ended else record.submit_dir,
            record.message,
            _fallback(record),
            record.run_words,
            *(f"next: {command}" for command in record.next),
        )
        shown = [f"  {one_line(text)}" for text in about if text]
        if shown:
            lines += [f"{one_line(record.name)}:", *shown]
    return lines


def _fallback(record: ReservationRecord) -> str:
    if not record.fallback:
        return ""
    to = record.fallback["to"].upper()
    because = record.fallback["because"]
    return f"its run is on the {to}, not on this: {because}"
