"""Whether it could be planned: all that a planning looks at before it writes."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.check.containers import check_images
from pegasus_bb.check.finding import Finding, note, ok, wrong
from pegasus_bb.check.storage import of_submit_dir
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import Decided, Given, no_collection, plan_context
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.left_out import left_out
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus import Home
from pegasus_bb.planner.pegasus.checks import check_style, check_sub_workflows
from pegasus_bb.planner.planning import rehearsed
from pegasus_bb.planner.rewriting import rewritten_inputs
from pegasus_bb.rewrite import Inputs


def of_planning(
    options: PlanOptions, given: Given, decided: Decided, home: Home | None
) -> Iterator[Finding]:
    """``home``: of the Pegasus that plans, None for the built-in planner."""
    try:
        context = plan_context(options, decided)
        check_existing(context.submit_dir, options.force)
    except PegasusBBError as error:
        yield wrong("submit", str(error))
        return
    yield of_submit_dir(context.submit_dir)
    try:
        with no_collection():
            yield from _of_planner(options, given, decided, context, home)
    except PegasusBBError as error:
        yield wrong("catalogs", str(error))


def _of_planner(
    options: PlanOptions,
    given: Given,
    decided: Decided,
    context: PlanContext,
    home: Home | None,
) -> Iterator[Finding]:
    """Raises what the planning would raise."""
    if decided.placement is not None:
        for tier in (decided.placement.tier, decided.placement.job_tier):
            check_style(decided.site, decided.catalogs, tier.backend)
    if home is None:
        options.check_builtin()
        planned = rehearsed(decided, context)
        yield ok("catalogs", f"they can be planned, as {len(planned.jobs)} nodes")
        yield from (note("planner", text) for text in planned.notes)
        return
    if decided.placement is None:
        check_images(decided)
        yield ok("catalogs", "pegasus-plan gets them as they are")
        return
    notes = left_out(decided, is_builtin=False) + check_sub_workflows(decided, ())
    rewritten_inputs(Inputs.of(given.workflow, given.catalogs), context)
    yield ok("catalogs", "nothing in them stands in the way of a buffer")
    yield from (note("planner", text) for text in notes)
