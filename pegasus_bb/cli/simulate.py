"""pegasus-bb simulate: what a run would take, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.options import PlanCommand, options_of_a_planning

_MODE = "off, persistent (these two), transient, hybrid."


@click.command("simulate", cls=PlanCommand, short_help="Report runs that never happen.")
@options_of_a_planning
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="off, persistent, transient, hybrid.",
)
@click.option("--seeds", default=1, help="Runs of each mode, each with its own draws.")
@click.option("--html", type=Path, help="Write a page with figures into this file.")
def command(
    modes: tuple[str, ...], seeds: int, html: Path | None, **options: Any
) -> None:
    """Simulate WORKFLOW in each MODE beside the PFS alone, and report it as if it had
    been run.

    Takes the options of plan, writes nothing, and asks no scheduler.
    """
    from pegasus_bb.cli.simulate_workflow import simulate_workflow

    simulate_workflow(options, modes, seeds, html)
