"""pegasus-bb simulate: what a run, a machine, or its storage would do."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.mix_options import MixOptions, mix_options
from pegasus_bb.cli.options import PlanCommand, options_of_a_look
from pegasus_bb.errors import UsageError

_COMMANDLINE = click.core.ParameterSource.COMMANDLINE
_WITHOUT_WORKFLOW = {
    *(field.name for field in fields(MixOptions)),
    *("provision", "flash", "as_json", "verbose", "quiet"),
}
_BOTH = (
    "mix",
    "seeds",
    "html",
    "trace",
)  # of the options of a mix, those that others have too


@click.command(
    "simulate", cls=PlanCommand, short_help="Simulate a workflow, or a machine."
)
@options_of_a_look
@click.option(
    "--mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="Of a workflow: off, persistent (these two), transient, hybrid.",
)
@mix_options
@click.option(
    "--provision",
    type=Path,
    metavar="FILE",
    help="In place of --mix: the bandwidth that draining these dumps needs.",
)
@click.option(
    "--flash",
    type=Path,
    metavar="FILE",
    help="In place of --mix: what flash copies and how it wears, by policy of streams.",
)
def command(
    as_json: bool,
    provision: Path | None,
    flash: Path | None,
    modes: tuple[str, ...],
    **options: Any,
) -> None:
    """Simulate WORKFLOW in each MODE beside the PFS alone, and report it as if it had
    been run. Takes the options of plan, writes nothing, and asks no scheduler.

    With --mix: simulate weeks of a machine whose jobs write checkpoints, and compare
    burst buffers: bandwidth of checkpoints, productive time, node-hours lost to faults.
    Figures are means over the seeds with a 95 % confidence interval. Every case has the
    same jobs and the same faults of compute nodes, so differences are paired.
    """
    mix = {field.name: options.pop(field.name) for field in fields(MixOptions)}
    wanted = {"--flash": flash, "--provision": provision, "--mix": mix["mix"]}
    without = next((option for option, file in wanted.items() if file), "")
    if without:
        _need_no_workflow(without)
    if flash is not None:
        _flash(flash, as_json, {"provision": provision, **mix})
    elif provision is not None:
        _provision(provision, as_json, mix)
    elif mix["mix"]:
        from pegasus_bb.cli.simulate_mix import simulate_mix

        simulate_mix(MixOptions(**mix), as_json)
    else:
        _workflow({**options, "as_json": as_json}, modes, mix)


def _need_no_workflow(what: str) -> None:
    """Refuse what only a workflow has a use for."""
    ctx = click.get_current_context()
    for param in ctx.command.params:
        source = ctx.get_parameter_source(param.name or "")
        if param.name not in _WITHOUT_WORKFLOW and source is _COMMANDLINE:
            if isinstance(param, click.Argument):
                raise UsageError(f"{what} takes no workflow")
            raise UsageError(
                f"{what} takes no {param.opts[-1]}, which is of a workflow"
            )


def _workflow(
    options: dict[str, Any], modes: tuple[str, ...], mix: dict[str, Any]
) -> None:
    from pegasus_bb.cli.simulate_workflow import simulate_workflow

    given = [name for name in mix if name not in _BOTH and mix[name] is not None]
    if given:
        raise UsageError(
            f"--{given[0]} is of a machine: say --mix apex, --mix FILE, --provision "
            "FILE or --flash FILE, or leave it out to simulate a workflow"
        )
    seeds = 1 if mix["seeds"] is None else mix["seeds"]
    simulate_workflow(options, modes, seeds, mix["html"], mix["trace"])


def _provision(path: Path, as_json: bool, others: dict[str, Any]) -> None:
    from pegasus_bb.cli.simulate_provision import show_provisioning

    show_provisioning(path, as_json, _only_seeds("provision", others) or 0)


def _flash(path: Path, as_json: bool, others: dict[str, Any]) -> None:
    from pegasus_bb.cli.simulate_flash import SEEDS, show_flash

    show_flash(path, as_json, _only_seeds("flash", others) or SEEDS)


def _only_seeds(option: str, others: dict[str, Any]) -> int | None:
    seeds: int | None = others.pop("seeds")
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"--{option} takes no --{given[0]}")
    return seeds
