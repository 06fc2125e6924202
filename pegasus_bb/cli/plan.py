"""pegasus-bb plan: pegasus-plan's own options, and --bb-*."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pegasus_bb.cli import cleanly_ended
from pegasus_bb.cli.output import echo_lines
from pegasus_bb.cli.plan_options import (
    RANDOM,
    PlanCommand,
    all_obstacles,
    only_of_pegasus,
    options_of_a_planning,
    plan_options,
)
from pegasus_bb.core.units import format_count
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import planner_line
from pegasus_bb.planner.planning import ResolvedOptions, resolve_options

if TYPE_CHECKING:
    from pegasus_bb.planner.builtin.executable import BuiltInExecutable
    from pegasus_bb.planner.planning import PlanResult

ARGV = "pegasus_bb.argv"


class _KeepingArguments(PlanCommand):
    """Keeps the command line: a plain pegasus-plan gets it word for word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGV] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(
    "plan",
    cls=_KeepingArguments,
)
@options_of_a_planning
@click.option(
    "--check/--no-check",
    default=True,
    help="no: as --bb-check off, for a run whose files are made later.",
)
@click.option("--dry-run", is_flag=True, help="Say what explain says; write nothing.")
@click.pass_context
def command(
    ctx: click.Context, /, *, dry_run: bool, check: bool, **options: Any
) -> None:
    """Plan WORKFLOW (default: workflow.yml) so that it runs on a burst buffer.

    Takes pegasus-plan's options. Every --bb-X is a property pegasus.bb.X as well.
    A real pegasus-plan does the planning if there is one.
    """
    if not check:
        options["bb_check"] = "off"
    wanted = plan_options(options, mode="persistent" if dry_run else "")
    chosen = resolve_options(wanted)
    if chosen.predicted is not None and not (ctx.params["as_json"] or _is_quiet(ctx)):
        from pegasus_bb.forecast.workflow.prediction_text import shown

        click.echo("\n".join(shown(chosen.predicted)), err=True)
    if dry_run:
        _show(ctx, chosen)
    elif chosen.home is None:
        _plan(ctx, chosen.options)
    else:
        from pegasus_bb.cli.plan_real import plan_real

        plan_real(ctx, chosen.options, chosen.properties, chosen.settings, chosen.home)


def _is_quiet(ctx: click.Context) -> bool:
    return bool(ctx.params["quiet"])


def _show(ctx: click.Context, chosen: ResolvedOptions) -> None:
    """What explain says, and all that plan would refuse."""
    from pegasus_bb.api.explaining import WorkflowExplanation
    from pegasus_bb.cli.explain import show
    from pegasus_bb.planner.builtin.planner import BuiltInPlanner
    from pegasus_bb.planner.planning import check_can_be_planned

    def check(found: WorkflowExplanation) -> None:
        options = chosen.options
        given = found.given
        decision = found.decision
        if chosen.home is None:
            _check_only_of_pegasus(ctx)
            with all_obstacles(options):
                planner = BuiltInPlanner(options)
                check_can_be_planned(options, given, decision, planner)
            return
        from pegasus_bb.cli.plan_real import passed
        from pegasus_bb.planner.pegasus.planner import PegasusPlanner

        real = PegasusPlanner(chosen.home, passed(ctx))
        check_can_be_planned(options, given, decision, real)

    show(ctx, chosen.options, as_json=ctx.params["as_json"], check=check)


def _check_only_of_pegasus(ctx: click.Context) -> None:
    for option, *_ in only_of_pegasus(ctx):
        if option.startswith(RANDOM):
            continue  # a run has a folder of its own in any case
        raise click.UsageError(
            f"{option} is an option of pegasus-plan that the built-in planner "
            "does not have; leave it out, or plan with a real Pegasus 5.1"
        )


def _plan(ctx: click.Context, options: PlanOptions) -> None:
    from pegasus_bb.planner.builtin.planner import BuiltInPlanner
    from pegasus_bb.planner.planning import plan

    _check_only_of_pegasus(ctx)
    as_json = bool(ctx.params["as_json"])
    quiet = bool(ctx.params["quiet"])
    with cleanly_ended(), all_obstacles(options):
        planned = plan(options, BuiltInPlanner(options))
    if as_json:
        click.echo(planned.as_json())
    elif not quiet:
        _print(planned, ctx.params["verbose"])
    if ctx.params["submit"]:
        from pegasus_bb.cli.run import command as run

        arguments = [str(planned.submit_dir)]
        run.main(arguments, prog_name="pegasus-bb run", standalone_mode=False)
    elif ctx.obj is not None:
        # Taking a large workflow apart object by object would cost a tenth of its
        # planning: the process ends while `planned` still holds it.
        ctx.obj()


def _print(planned: PlanResult[BuiltInExecutable], verbose: int) -> None:
    who = planner_line(planned.given.catalogs.properties, None)
    lines = [*planned.notes, who, *planned.summary]
    if verbose:
        lines.append(
            f"built-in planner: {format_count(len(planned.executable.jobs), 'node')}"
        )
    request = planned.run.request
    if verbose and request is not None:
        name = request.name
        prefix = request.prefix
        lines.append(f"reservation {name}, as {prefix} until it is up")
    echo_lines(lines, err=True)
    click.echo(
        f"Planned. Run it with\n\n  pegasus-bb run {planned.submit_dir}\n\n"
        f"and look at it with\n\n  pegasus-bb status {planned.submit_dir}\n"
    )
