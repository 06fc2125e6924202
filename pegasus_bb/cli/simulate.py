"""pegasus-bb simulate: what a run of a workflow would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.plan_options import PlanCommand, options_of_a_look
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.plugins import COMMANDS, plugin

_OF_A_MACHINE = ("--mix", "--provision", "--flash")


class _SimulateCommand(PlanCommand):
    """Hands the command line to pegasus_bb_lab if it names a machine to simulate."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Raises UsageError if pegasus_bb_lab is needed and not installed."""
        options = [arg.partition("=")[0] for arg in args]
        named = next((each for each in options if each in _OF_A_MACHINE), None)
        if named is None:
            return super().make_context(info_name, args, parent, **extra)
        machine = plugin(COMMANDS, "simulate-machine")
        if not isinstance(machine, click.Command):
            raise UsageError(
                f"simulate {named} needs pegasus_bb_lab, not installed here: in a "
                "checkout of pegasus_bb, make setup installs it"
            )
        return machine.make_context(info_name, args, parent, **extra)


@click.command("simulate", cls=_SimulateCommand)
@options_of_a_look
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="off, persistent, transient or hybrid, of a workflow.  [off and --bb-mode]",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100_000),
    default=1,
    help="Runs of each mode.",
    show_default=True,
)
@click.option(
    "--scale",
    type=click.IntRange(1, 1_000_000),
    default=1,
    metavar="N",
    help="Assume N times the bytes in every file, and tasks that do as much more.",
)
@click.option("--html", type=Path, help="Write a page with figures into this file.")
@click.option(
    "--trace",
    type=Path,
    help="Write every event of the first seed into this file, as lines of JSON.",
)
def command(
    modes: tuple[str, ...],
    seeds: int,
    scale: int,
    html: Path | None,
    trace: Path | None,
    **options: Any,
) -> None:
    """Simulate WORKFLOW in each MODE beside the PFS alone, and report it as if it had
    been run. Takes the options of plan, writes nothing, and asks no scheduler.

    With --mix, --provision or --flash pegasus_bb_lab simulates a machine instead:
    pegasus-bb simulate --mix apex --help lists those options.
    """
    from pegasus_bb.cli.simulate_workflow import simulate_workflow
    from pegasus_bb.planner.simulations import SimulationSize

    size = SimulationSize(seeds, scale)
    simulate_workflow(options, modes, size, html, trace)
