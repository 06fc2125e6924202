"""Whether it could be planned: all that a planning looks at before it writes."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import runs_on
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.local_files import of_submit_dir
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.pegasus_limits import check_style, check_sub_workflows
from pegasus_bb.planner.plan_summary import omission_notes
from pegasus_bb.planner.planning import plan_in_memory
from pegasus_bb.planner.reading import UserInput, no_collection, rewrite_inputs
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import RunPlan, plan_run


def of_planning(
    options: PlanOptions, given: UserInput, decided: PlanningInput, home: Home | None
) -> Iterator[Finding]:
    """``home``: of the Pegasus that plans, None for the built-in planner."""
    try:
        context = plan_run(options, decided)
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
    given: UserInput,
    decided: PlanningInput,
    context: RunPlan,
    home: Home | None,
) -> Iterator[Finding]:
    if decided.placement is not None:
        for tier in (decided.placement.tier, decided.placement.job_tier):
            check_style(decided.site, decided.catalogs, tier.backend)
    if home is None:
        options.check_builtin()
        planned = plan_in_memory(decided, context)
        yield ok("catalogs", f"planning works; the DAG has {len(planned.jobs)} nodes")
        yield from (note("planner", text) for text in planned.notes)
        return
    if decided.placement is None:
        _check_images(decided)
        yield ok("catalogs", "pegasus-plan gets them as they are")
        return
    notes = omission_notes(decided, is_builtin=False) + check_sub_workflows(decided, ())
    rewrite_inputs(Inputs.of(given.workflow, given.catalogs), context)
    yield ok("catalogs", "nothing in them prevents a buffer")
    yield from (note("planner", text) for text in notes)


def _check_images(decided: PlanningInput) -> None:
    """Mode off: pegasus-plan itself brings an image in a file to the site. It takes one
    without image.site for a file of no site. Raises CatalogError."""
    catalog = decided.catalogs.transformations
    site = decided.site.name
    jobs = [job for job in decided.workflow.jobs.values() if runs_on(job, site)]
    programs = [catalog.executable(j.transformation, site) for j in jobs]
    used = {program.container for program in programs if program is not None}
    for index, container in enumerate(catalog.document.data.get("containers") or []):
        image = str(container.get("image", ""))
        is_file = local_path(image) is not None
        if is_file and container["name"] in used and "image.site" not in container:
            raise catalog.document.error(
                f"pegasus-plan does not stage the image {image}: it is on no site",
                ["containers", index],
                container["name"],
                f"image.site: {site}, or local",
            )
