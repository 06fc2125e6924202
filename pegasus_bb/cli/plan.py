"""pegasus-bb plan: pegasus-plan's own options, and --bb-*."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from pegasus_bb.cli.ended import cleanly_ended
from pegasus_bb.cli.options import (
    PlanCommand,
    catalog_options,
    plan_options,
    planning_options,
    refuse_what_only_pegasus_has,
    settings_options,
    what_only_pegasus_has,
)
from pegasus_bb.model.settings import Settings, read_settings
from pegasus_bb.planner.pegasus import Home, find_home, need_home
from pegasus_bb.planner.planning import Planned, plan, properties_of

ARGV = "pegasus_bb.argv"


class _Plan(PlanCommand):
    """Keeps the command line: a plain pegasus-plan gets it word for word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGV] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(
    "plan", cls=_Plan, short_help="Turn an abstract workflow into a submit directory."
)
@catalog_options
@settings_options
@planning_options
@what_only_pegasus_has
@click.argument("workflow", type=Path, default="workflow.yml")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    as_json: bool,
    verbose: int,
    quiet: int,
    submit: bool,
    **options: Any,
) -> None:
    """Plan WORKFLOW (default: workflow.yml) so that it runs on a burst buffer.

    Takes pegasus-plan's options. Every --bb-X is a property pegasus.bb.X as well.
    A real pegasus-plan does the planning where there is one.
    """
    said = plan_options(options)
    settings = read_settings(properties_of(said), said.cwd)
    home = _home(settings)
    if home is not None:
        from pegasus_bb.cli.plan_real import plan_real

        plan_real(ctx, said, settings, home)
        return
    refuse_what_only_pegasus_has(ctx)
    with cleanly_ended():
        planned = plan(said)
    if as_json:
        click.echo(planned.as_json())
    elif not quiet:
        _tell(planned, verbose)
    if submit:
        _run(planned, bool(quiet) or as_json)
    elif ctx.obj is not None:
        # Taking a large workflow apart object by object would cost a tenth of its
        # planning: the process ends while `planned` still holds it.
        ctx.obj.leave()


def _home(settings: Settings) -> Home | None:
    """The Pegasus that plans; None: the built-in planner does."""
    if settings.planner == "builtin":
        return None
    return (need_home if settings.planner == "pegasus" else find_home)(os.environ)


def _tell(planned: Planned, verbose: int) -> None:
    for line in (*planned.notes, *planned.summary):
        click.echo(line, err=True)
    if verbose:
        _tell_more(planned)
    click.echo(
        f"Planned. Run it with\n\n  pegasus-bb run {planned.submit_dir}\n\n"
        f"and look at it with\n\n  pegasus-bb status {planned.submit_dir}\n"
    )


def _tell_more(planned: Planned) -> None:
    click.echo(f"built-in planner: {planned.nodes} nodes", err=True)
    if planned.request is not None:
        name, prefix = planned.request.name, planned.request.prefix
        click.echo(f"reservation {name}, as {prefix} until it is up", err=True)


def _run(planned: Planned, quietly: bool) -> None:
    from pegasus_bb.cli.run import command as run

    arguments = [str(planned.submit_dir)]
    run.main(arguments, prog_name="pegasus-bb run", standalone_mode=False)
