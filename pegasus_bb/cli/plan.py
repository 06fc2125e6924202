"""pegasus-bb plan: pegasus-plan's own options, and --bb-*."""

from __future__ import annotations

import os
from typing import Any

import click

from pegasus_bb.cli.options import (
    PlanCommand,
    options_of_a_planning,
    plan_options,
)
from pegasus_bb.model.properties import read_settings
from pegasus_bb.planner.choices import (
    check_fallback_is_of_use,
    check_job_tier_is_of_use,
)
from pegasus_bb.planner.deciding import properties_of
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus import chosen_home

ARGV = "pegasus_bb.argv"
# What is done once it is planned.
_AFTERWARDS = {"as_json", "verbose", "quiet", "submit"}


class _Plan(PlanCommand):
    """Keeps the command line: a plain pegasus-plan gets it word for word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGV] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(
    "plan", cls=_Plan, short_help="Turn an abstract workflow into a submit directory."
)
@options_of_a_planning
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Plan WORKFLOW (default: workflow.yml) so that it runs on a burst buffer.

    Takes pegasus-plan's options. Every --bb-X is a property pegasus.bb.X as well.
    A real pegasus-plan does the planning where there is one.
    """
    said = plan_options({key: options[key] for key in options.keys() - _AFTERWARDS})
    properties = properties_of(said)
    settings = read_settings(properties, said.cwd)
    check_fallback_is_of_use(said, settings)
    check_job_tier_is_of_use(said, settings)
    if settings.mode == "auto":
        said = _with_mode(ctx, said)
        properties = properties_of(said)
        settings = read_settings(properties, said.cwd)
    home = chosen_home(settings.planner, os.environ)
    if home is not None:
        from pegasus_bb.cli.plan_real import plan_real

        plan_real(ctx, said, properties, settings, home)
        return
    from pegasus_bb.cli.plan_builtin import plan_builtin

    plan_builtin(ctx, said)


def _with_mode(ctx: click.Context, options: PlanOptions) -> PlanOptions:
    """What --bb-mode auto comes to, said with its reason."""
    from pegasus_bb.cli.prediction import shown
    from pegasus_bb.planner.predicting import chosen_mode

    chosen, predicted = chosen_mode(options)
    if not (ctx.params["as_json"] or ctx.params["quiet"]):
        click.echo("\n".join(shown(predicted)), err=True)
    return chosen
