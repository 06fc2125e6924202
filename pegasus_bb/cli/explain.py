"""pegasus-bb explain: where every file would live, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
import orjson

from pegasus_bb.api.explaining import WorkflowExplanation, explained
from pegasus_bb.cli.output import echo_lines
from pegasus_bb.cli.plan_options import (
    PlanCommand,
    all_obstacles,
    only_of_pegasus,
    options_of_a_look,
    plan_options,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.reading import no_collection

Check = Callable[[WorkflowExplanation], None]


@click.command("explain", cls=PlanCommand)
@options_of_a_look
@click.option("--files", is_flag=True, help="List every file, not groups of them.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    as_json: bool,
    files: bool,
    **options: Any,
) -> None:
    """Show where the files of WORKFLOW live and why, and the space needed.

    Takes the options of plan, writes nothing, and asks no scheduler. If plan would
    refuse the capacity or miss an input, the table comes first, then the error.
    """
    wanted = plan_options(options, mode="persistent")
    show(ctx, wanted, as_json=as_json, files=files, check=_check(wanted))


def _check(options: PlanOptions) -> Check:
    def check(found: WorkflowExplanation) -> None:
        from pegasus_bb.planner.obstacles import check_explained

        check_explained(options, found.given, found.decision.placement)

    return check


def show(
    ctx: click.Context,
    options: PlanOptions,
    *,
    as_json: bool,
    files: bool = False,
    check: Check | None = None,
) -> None:
    """Print it, then raise the UsageError of a plan that would be refused. ``check``
    looks for more that would be."""
    with no_collection(), all_obstacles(options):
        elsewhere = _is_given(ctx, "--cache", "--inherited-rc-files")
        found = explained(options, elsewhere=elsewhere)
        if as_json:
            click.echo(orjson.dumps(found.to_json(), option=orjson.OPT_INDENT_2))
        else:
            echo_lines(found.to_lines(files=files))
        for note in (*found.notes(), *_notes(ctx, found)):
            click.echo(note, err=True)
        if found.refused is not None:
            raise found.refused
        if check is not None:
            check(found)
        if ctx.obj is not None:
            ctx.obj()  # as plan does


def _notes(ctx: click.Context, found: WorkflowExplanation) -> Iterator[str]:
    if found.given.settings.mode.is_only_for_jobs and ctx.params["clusters"]:
        yield (
            "--cluster: these are the reservations of single jobs; plan makes the "
            "clusters, and then reserves for all jobs of a cluster together"
        )


def _is_given(ctx: click.Context, *options: str) -> bool:
    """Whether one of these options of pegasus-plan is given."""
    return any(option in options for option, *_ in only_of_pegasus(ctx))
