"""pegasus-bb explain: where every file would live, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import orjson

from pegasus_bb.cli.options import (
    PlanCommand,
    only_of_pegasus,
    options_of_a_look,
    plan_options,
)
from pegasus_bb.cli.output import columns, write_page
from pegasus_bb.cli.prediction import shown
from pegasus_bb.errors import UsageError
from pegasus_bb.model.reservation import NODE_LOCAL
from pegasus_bb.placement.decision import PlanningInput
from pegasus_bb.placement.explain import Explanation, explain
from pegasus_bb.placement.lint import lint_replicas
from pegasus_bb.placement.liveness import live_flow, planned_peak
from pegasus_bb.placement.run_times import times_error
from pegasus_bb.planner.drain import drain_gain, gain_line, plan_drain
from pegasus_bb.planner.drain_plan import DrainPlan
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.predictions import compare
from pegasus_bb.planner.reading import (
    no_collection,
    note_on_mode,
    read_and_place,
    with_capacity,
)
from pegasus_bb.planner.run_plan import output_site
from pegasus_bb.planner.summary import fit_lines, reservation_lines
from pegasus_bb.units import abbreviate, format_files, format_size

_MORE = (fit_lines, reservation_lines)
_Row = tuple[str, str, str, str, str]


@click.command(
    "explain", cls=PlanCommand, short_help="Show where each file would live, and why."
)
@options_of_a_look
@click.option("--files", is_flag=True, help="List every file, not groups of them.")
@click.option("--html", type=Path, help="Write a page with figures into this file.")
@click.pass_context
def command(
    ctx: click.Context, /, as_json: bool, files: bool, html: Path | None, **options: Any
) -> None:
    """Show where the files of WORKFLOW live and why, and the space needed.

    Takes the options of plan, writes nothing, and asks no scheduler. If plan would
    refuse the capacity or miss an input, the table comes first, then the error.
    """
    wanted = plan_options(options, mode="persistent")
    if html is not None:
        import pegasus_bb.page  # noqa: F401 - fails at once if it is not installed
    with no_collection():
        elsewhere = _is_given(ctx, "--cache", "--inherited-rc-files")
        placed, drain, fault = _placed(wanted, elsewhere)
        _show(placed, drain, as_json, files, html)
        for note in _notes(ctx, placed):
            click.echo(note, err=True)
        if fault is not None:
            raise fault
        if ctx.obj is not None:
            ctx.obj()  # as plan does


def _placed(
    options: PlanOptions, elsewhere: bool
) -> tuple[PlanningInput, DrainPlan | None, UsageError | None]:
    """The placement with its capacity, or without one; how results leave; what plan
    would refuse."""
    placed = read_and_place(options)
    if placed.placement is None:
        raise UsageError("with --bb-mode off every file lives on the PFS")
    output_site(options, placed.catalogs)
    files = () if elsewhere else placed.placement.files.values()
    drain = None
    try:
        lint_replicas(placed.workflow, placed.catalogs, files)
        placed = with_capacity(placed)
        drain = plan_drain(placed)
    except UsageError as error:
        return placed, drain, error
    return placed, drain, None


def _show(
    placed: PlanningInput,
    drain: DrainPlan | None,
    as_json: bool,
    files: bool,
    html: Path | None,
) -> None:
    decision, predicted = placed.decision, compare(placed)
    gain = drain_gain(placed, drain)
    assert decision is not None  # noqa: S101 - mode off does not come here
    peak = planned_peak(placed, decision.placement)
    explanation = explain(decision, placed.settings, peak)
    if html is not None:
        from pegasus_bb.page import explained_page  # templates are slow to load

        placement, flow = decision.placement, live_flow(placed, decision.placement)
        workflow, graph = placed.workflow, placed.graph
        write_page(
            html,
            explained_page(workflow, graph, placement, explanation, flow, predicted),
        )
    if as_json:
        more: dict[str, Any] = {}
        more |= {} if predicted is None else {"predicted": predicted.to_json()}
        more |= {} if gain is None else {"drain": gain}
        error = times_error(placed)
        more |= {} if error is None else {"times_error": error}
        document = {**explanation.to_json(), **more}
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return
    rows = _file_rows(explanation) if files else _group_rows(explanation)
    _print(rows, explanation, [line for lines in _MORE for line in lines(decision)])
    if predicted is not None:
        click.echo("\n".join(("", *shown(predicted))))
    if gain is not None:
        click.echo(gain_line(gain))


def _notes(ctx: click.Context, placed: PlanningInput) -> Iterator[str]:
    mode = note_on_mode(placed.catalogs.properties)
    if mode:
        yield mode
    if placed.settings.mode == "transient" and _is_given(ctx, "--cluster"):
        yield (
            "--cluster: these are the reservations of single jobs; pegasus-plan makes "
            "the clusters, and plan then reserves for all jobs of a cluster together"
        )


def _is_given(ctx: click.Context, *options: str) -> bool:
    """Whether one of these options of pegasus-plan is given."""
    return any(option in options for option, *_ in only_of_pegasus(ctx))


def _print(rows: Iterable[_Row], explanation: Explanation, fit: list[str]) -> None:
    click.echo("\n".join(columns(rows, right=(1,))))
    jobs = _job_reservations(explanation)
    click.echo("\n".join([*jobs, *_totals(explanation), *fit]))


def _job_reservations(explanation: Explanation) -> Iterator[str]:
    where = f" on {explanation.job_tier}" if explanation.job_tier else ""
    for job, own in explanation.job_reservations.items():
        shared = f", {len(own.share)} shared" if own.share else ""
        yield (
            f"job {job}: {format_size(own.capacity)}{where} for "
            f"{format_size(own.need)}, {format_files(len(own.stage_in))} in, "
            f"{len(own.stage_out)} out{shared}"
        )


def _file_rows(explanation: Explanation) -> Iterator[_Row]:
    yield ("LFN", "size", "tier", "how", "reason")
    for file in explanation.files:
        size = "unknown" if file.size is None else format_size(file.size)
        yield (file.lfn, size, file.tier, file.how, file.reason)


def _group_rows(explanation: Explanation) -> Iterator[_Row]:
    yield ("files", "size", "tier", "how", "reason")
    for each in explanation.groups:
        unknown = f"{each.unknown} unknown" if each.unknown else ""
        known = format_size(each.size) if each.unknown < each.files else ""
        size = " + ".join(filter(None, (known, unknown)))
        yield (format_files(each.files), size, each.tier, each.how, each.reason)


def _totals(explanation: Explanation) -> list[str]:
    lines = [""]
    if not explanation.each_alone:
        lines += _live(explanation)
    if explanation.unknown:
        names = abbreviate(explanation.unknown)
        lines.append(f"size unknown, not counted: {names}")
    if explanation.streams:
        policy, why = explanation.streams
        lines.append(f"streams: by {policy}" + (f" (auto: {why})" if why else ""))
    lines.append(_capacity(explanation))
    return lines


def _live(explanation: Explanation) -> list[str]:
    tier, least = explanation.tier, format_size(explanation.planned_order)
    return [
        f"needed on tier {tier}: {format_size(explanation.any_order)} in any order of "
        "the jobs, even if all clean-ups run last",
        f"needed if jobs run level by level with clean-ups between: {least}",
    ]


def _capacity(explanation: Explanation) -> str:
    if explanation.capacity is None:
        return "capacity: none; the error below says why"
    how = (
        "as given"
        if explanation.headroom is None
        else f"{explanation.headroom} % headroom"
    )
    each = "up to " if explanation.each_alone else ""
    per = " for each job" if explanation.each_alone else ""
    free = "; it has to be free on its node, nothing is reserved"
    return (
        f"capacity: {each}{format_size(explanation.capacity)}{per} ({how}, in steps of "
        f"{format_size(explanation.granularity)}) on {explanation.site}, "
        f"{explanation.backend}{free if explanation.backend == NODE_LOCAL else ''}"
    )
