"""pegasus-bb simulate: what a machine, or its storage, would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.mix_options import MixOptions, mix_options
from pegasus_bb.cli.simulate_mix import simulate_mix
from pegasus_bb.errors import UsageError


@click.command("simulate", short_help="Simulate a machine full of jobs.")
@mix_options
@click.option(
    "--provision",
    type=Path,
    metavar="FILE",
    help="In place of --mix: the bandwidth that draining these dumps needs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool, provision: Path | None, **options: Any) -> None:
    """Simulate weeks of a machine whose jobs write checkpoints, and compare burst
    buffers: bandwidth of checkpoints, productive time, node-hours lost to faults.

    Figures are means over the seeds with a 95 % confidence interval. Every case has the
    same jobs and the same faults of compute nodes, so differences are paired.
    """
    if provision is not None:
        _provision(provision, as_json, options)
        return
    if not options["mix"]:
        raise UsageError(
            "say what to simulate: --mix apex, --mix FILE, or --provision FILE"
        )
    simulate_mix(MixOptions(**options), as_json)


def _provision(path: Path, as_json: bool, options: dict[str, Any]) -> None:
    from pegasus_bb.cli.simulate_provision import show_provisioning

    seeds = options.pop("seeds")
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise UsageError(f"--provision takes no --{given[0]}")
    show_provisioning(path, as_json, seeds or 0)
