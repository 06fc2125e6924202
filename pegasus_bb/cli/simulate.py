"""pegasus-bb simulate: what a machine would do."""

from __future__ import annotations

from typing import Any

import click

from pegasus_bb.cli.mix_options import MixOptions, mix_options
from pegasus_bb.cli.simulate_mix import simulate_mix
from pegasus_bb.errors import UsageError


@click.command("simulate", short_help="Simulate a machine full of jobs.")
@mix_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, **options: Any) -> None:
    """Simulate weeks of a machine whose jobs write checkpoints, and compare burst
    buffers: bandwidth of checkpoints, productive time, node-hours lost to faults.

    Figures are means over the seeds with a 95 % confidence interval. Every case has the
    same jobs and the same faults of compute nodes, so differences are paired.
    """
    if not options["mix"]:
        raise UsageError("say what to simulate: --mix apex, or --mix FILE")
    simulate_mix(MixOptions(**options), as_json)
