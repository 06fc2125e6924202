"""Measure, and say what was measured: also of a benchmark that was interrupted."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any

import click

from pegasus_bb.bench.choice import Chosen, choose
from pegasus_bb.bench.document import to_document
from pegasus_bb.bench.figures import Figures, figures
from pegasus_bb.bench.notes import after, before
from pegasus_bb.bench.rounds import Tell
from pegasus_bb.bench.session import Session
from pegasus_bb.cli.bench_shown import shown, shown_figures, wrapped
from pegasus_bb.cli.ended import cleanly_ended


def measure(
    session: Session, engine: str, launch: tuple[str, ...], as_json: bool
) -> None:
    """Fill ``session`` in and print it. Raises what ends it, after that."""
    notes = list(before(session.tiers))
    for sentence in notes:
        click.echo(f"pegasus-bb: {sentence}", err=True)

    def chosen(folder: str) -> Chosen:
        most, until = max(session.plan.processes), session.limits.until
        return choose(engine, launch, most, folder, until)

    began, at = time.monotonic(), datetime.now(timezone.utc)
    made: dict[str, Any] = {
        "host": socket.gethostname(),
        "cores": os.cpu_count(),
        "time": at.isoformat(timespec="seconds"),
        "complete": False,
    }
    with cleanly_ended():
        try:
            with _progress(shown=not as_json) as tell:
                session.run(chosen, tell)
            made["complete"] = True
        except (KeyboardInterrupt, SystemExit):
            click.echo("pegasus-bb: interrupted; what was written is gone", err=True)
            raise
        finally:
            made["seconds"] = round(time.monotonic() - began, 3)
            if any(any(tier.measured()) for tier in session.tiers):
                _show(session, made, notes, as_json)


@contextmanager
def _progress(shown: bool) -> Iterator[Tell]:
    if not (shown and sys.stderr.isatty()):
        yield lambda *_: None
        return
    from pegasus_bb.cli.bench_progress import shown_progress

    with shown_progress() as tell:
        yield tell


def _show(
    session: Session, made: dict[str, Any], notes: list[str], as_json: bool
) -> None:
    found, said = _figures(session), list(after(session))
    if as_json:
        document = to_document(session, made, [*notes, *said], found)
        click.echo(json.dumps(document, indent=1))
        return
    lines = [*shown(session), *map(wrapped, said), "", *shown_figures(found)]
    if not made["complete"]:
        lines.append("not complete: this is what was measured by then")
    click.echo("\n".join(lines))


def _figures(session: Session) -> dict[str, Figures]:
    """Of tiers of which anything is known."""
    known = (tier for tier in session.tiers if any(tier.measured()))
    return {tier.place.name: figures(tier) for tier in known}
