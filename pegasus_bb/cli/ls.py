"""pegasus-bb ls: every reservation of this user, and what became of it."""

from __future__ import annotations

import gc
import json
import time
from dataclasses import asdict

import click

from pegasus_bb import ledger
from pegasus_bb.cli.columns import columns, printable
from pegasus_bb.engine.held.holding import Holding
from pegasus_bb.engine.held.listing import holdings
from pegasus_bb.units import format_duration, format_size

_HEAD = ("reservation", "site/tier", "backend", "size", "state", "age", "run", "doing")
_RIGHT = (3, 5)


@click.command("ls")
@click.option("--all", "everything", is_flag=True, help="Also those given back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def command(everything: bool, as_json: bool) -> None:
    """List the reservations that this user has asked for, whatever run asked, with what
    their scheduler says now and what their run is doing; and reservations of this user
    that are not on the ledger. Changes nothing.
    """
    gc.disable()  # of a long ledger, half the time went into looking for garbage
    found = holdings(everything)
    if as_json:
        document = [asdict(holding) for holding in found]
        click.echo(json.dumps(document, indent=2))
    elif not found:
        more = "" if everything else "; those given back: --all"
        click.echo(f"no reservations on {ledger.path()}{more}")
    else:
        click.echo("\n".join([*table(found), *remarks(found)]))


def table(found: list[Holding]) -> list[str]:
    """A line each."""
    now = time.time()
    return columns([_HEAD, *(_row(holding, now) for holding in found)], _RIGHT)


def _row(holding: Holding, now: float) -> tuple[str, ...]:
    age = _age(now - holding.asked_at) if holding.asked_at else "-"
    place = f"{holding.site}/{holding.tier}" if holding.site else "-"
    return (
        holding.name,
        place,
        holding.backend,
        format_size(holding.size),
        holding.state or holding.ended,
        age,
        holding.label or "-",
        holding.run or "-",
    )


def _age(seconds: float) -> str:
    days = int(seconds) // 86400
    return f"{days} d" if days > 1 else format_duration(max(0.0, seconds))


def remarks(found: list[Holding]) -> list[str]:
    """What does not fit into a table: where, why, and what to say next."""
    lines: list[str] = []
    for holding in found:
        about = (
            "" if holding.ended else holding.submit_dir,
            holding.message,
            _fallback(holding),
            holding.run_words,
            *(f"say: {words}" for words in holding.next),
        )
        told = [f"  {one_line(words)}" for words in about if words]
        if told:
            lines += [f"{one_line(holding.name)}:", *told]
    return lines


def _fallback(holding: Holding) -> str:
    if not holding.fallback:
        return ""
    to, because = holding.fallback["to"].upper(), holding.fallback["because"]
    return f"its run is on the {to}, not on this: {because}"


def one_line(words: str) -> str:
    """Without the ends of lines that it may have."""
    return printable(" ".join(words.split()))
