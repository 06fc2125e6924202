"""Run a benchmark, show its progress, and print it even if it is interrupted."""

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
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from pegasus_bb.bench.document import to_document
from pegasus_bb.bench.figures import figures
from pegasus_bb.bench.notes import after, before
from pegasus_bb.bench.session import Session, Tell
from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.bench_shown import figure_lines, table_lines, wrapped


def measure(session: Session, as_json: bool) -> None:
    """Run ``session`` and print it; an error is raised after that."""
    notes = list(before(session.tiers))
    for sentence in notes:
        click.echo(f"pegasus-bb: {sentence}", err=True)
    began, now = time.monotonic(), datetime.now(timezone.utc)
    run: dict[str, Any] = {"host": socket.gethostname(), "cores": os.cpu_count()}
    run |= {"time": now.isoformat(timespec="seconds"), "complete": False}
    with cleanly_ended():
        try:
            with _progress(shown=not as_json and sys.stderr.isatty()) as tell:
                session.run(tell)
            run["complete"] = True
        except (KeyboardInterrupt, SystemExit):
            click.echo("pegasus-bb: interrupted; its files are removed", err=True)
            raise
        finally:
            run["seconds"] = round(time.monotonic() - began, 3)
            if any(tier.measured() for tier in session.tiers):
                _print(session, run, notes, as_json)


@contextmanager
def _progress(shown: bool) -> Iterator[Tell]:
    """A bar on the terminal."""
    with Progress(
        console=Console(stderr=True), transient=True, disable=not shown
    ) as bar:
        task = bar.add_task("starting", total=None)

        def tell(what: str, done: int, of: int) -> None:
            bar.update(task, description=escape(what), completed=done, total=of)

        yield tell


def _print(
    session: Session, run: dict[str, Any], notes: list[str], as_json: bool
) -> None:
    known = (tier for tier in session.tiers if tier.measured())
    found = {tier.place.name: figures(tier) for tier in known}
    remarks = list(after(session))
    if as_json:
        document = to_document(session, run, [*notes, *remarks], found)
        click.echo(json.dumps(document, indent=1))
        return
    lines = [*table_lines(session), *map(wrapped, remarks), "", *figure_lines(found)]
    if not run["complete"]:
        lines.append("not complete: the benchmark was ended before that")
    click.echo("\n".join(lines))
