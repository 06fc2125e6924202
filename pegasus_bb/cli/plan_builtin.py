"""`pegasus-bb plan` where the built-in planner does the planning."""

from __future__ import annotations

import click

from pegasus_bb.cli.ended import cleanly_ended
from pegasus_bb.cli.options import refuse_what_only_pegasus_has
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.home import planned_by
from pegasus_bb.planner.planning import Planned, plan


def plan_builtin(ctx: click.Context, options: PlanOptions) -> None:
    """Plan, say what came of it, and run it where that was asked for."""
    refuse_what_only_pegasus_has(ctx)
    as_json, quiet = bool(ctx.params["as_json"]), bool(ctx.params["quiet"])
    with cleanly_ended():
        planned = plan(options)
    if as_json:
        click.echo(planned.as_json())
    elif not quiet:
        _tell(planned, ctx.params["verbose"])
    if ctx.params["submit"]:
        _run(planned, quiet or as_json)
    elif ctx.obj is not None:
        # Taking a large workflow apart object by object would cost a tenth of its
        # planning: the process ends while `planned` still holds it.
        ctx.obj.leave()


def _tell(planned: Planned, verbose: int) -> None:
    who = planned_by(planned.decided.catalogs.properties, None)
    for line in (*planned.notes, who, *planned.summary):
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
