"""pegasus-bb simulate --mix, --provision or --flash: what a machine would do."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from pegasus_bb.core.errors import UsageError
from pegasus_bb_lab.commands.mix_options import MixOptions, mix_options
from pegasus_bb_lab.model.workflow_mix import read_workflow_mix


@click.command(
    "simulate",
    context_settings={"help_option_names": ["-h", "--help"]},
    short_help="Simulate a machine.",
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
@click.option("--json", "as_json", is_flag=True, help="A document for programs.")
def command(
    *, as_json: bool, provision: Path | None, flash: Path | None, **options: Any
) -> None:
    """With --mix: simulate weeks of a machine whose jobs write checkpoints, and compare
    burst buffers: bandwidth of checkpoints, productive time, node-hours lost to faults.
    Figures are means over the seeds with a 95 % confidence interval. Every case has the
    same jobs and the same faults of compute nodes, so differences are paired.

    If FILE names workflows as members, these run at the same time on one buffer: the
    makespan of each, its wait for capacity, and the most that is reserved.
    """
    mix = {field.name: options[field.name] for field in fields(MixOptions)}
    if flash is not None:
        _flash(flash, as_json=as_json, others={"provision": provision, **mix})
    elif provision is not None:
        _provision(provision, as_json=as_json, others=mix)
    elif (workflows := read_workflow_mix(mix["mix"], os.environ)) is not None:
        from pegasus_bb_lab.commands.mix_workflows import show_workflows

        show_workflows(workflows, MixOptions(**mix), as_json=as_json)
    else:
        from pegasus_bb_lab.commands.simulate_mix import simulate_mix

        simulate_mix(MixOptions(**mix), as_json=as_json)


def _provision(path: Path, *, as_json: bool, others: dict[str, Any]) -> None:
    from pegasus_bb_lab.commands.simulate_provision import show_provisioning

    show_provisioning(
        path, as_json=as_json, seeds=_only_seeds("provision", others) or 0
    )


def _flash(path: Path, *, as_json: bool, others: dict[str, Any]) -> None:
    from pegasus_bb_lab.commands.simulate_flash import SEEDS, show_flash

    show_flash(path, as_json=as_json, seeds=_only_seeds("flash", others) or SEEDS)


def _only_seeds(option: str, others: dict[str, Any]) -> int | None:
    seeds: int | None = others.pop("seeds")
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(f"--{option} takes no --{given[0]}")
    return seeds
