"""pegasus-bb run: run a planned workflow here, or go on where it stopped."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pegasus_bb.engine import choose, run
from pegasus_bb.engine.terminal import mute_if_gone
from pegasus_bb.units import format_duration


@click.command("run")
@click.option(
    "--slots",
    "-s",
    type=click.IntRange(min=1),
    help="Jobs that run at the same time; by default one per processor. "
    "Jobs of universe local take no slot.",
)
@click.option(
    "--restart",
    is_flag=True,
    help="Start over: the journal and rescue files of earlier runs are moved aside. "
    "Refused while the reservation of the run still stands.",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing while it goes well.")
@click.argument("submit_dir", type=click.Path(path_type=Path))
def command(slots: int | None, restart: bool, quiet: bool, submit_dir: Path) -> None:
    """Run the DAG in SUBMIT_DIR on this machine, as DAGMan would.

    Run it again after a failure, after Ctrl-C or after a crash: it goes on where it
    stopped, and no node that was done is run again.

    Exit status: 0 all nodes are done, or ABORT-DAG-ON of the DAG calls it so; 80 a
    node failed; 130 it was interrupted.
    """
    progress = None if quiet else choose(submit_dir)
    try:
        done = run(submit_dir, slots=slots or 0, progress=progress, restart=restart)
    finally:  # how it ended is the exit status, also where nobody hears the words
        mute_if_gone(sys.stderr)
    for file in done.aside:
        click.echo(f"kept from before: {file}", err=True)
    if done.done_before == done.total:
        click.echo(
            f"all {done.total} nodes were done before; --restart runs them again",
            err=True,
        )
    elif done.rescue is not None:
        click.echo(
            f"the DAG ended itself (ABORT-DAG-ON with status 0): {done.done} of "
            f"{done.total} nodes are done\nrescue file: {done.rescue.name}\n"
            f"to do the rest: pegasus-bb run {submit_dir}",
            err=True,
        )
    elif not quiet:
        click.echo(
            f"all {done.total} nodes are done ({format_duration(done.seconds)})",
            err=True,
        )
