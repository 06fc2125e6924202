"""Whether it could be planned: all that a planning looks at before it writes."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.local_files import of_submit_dir
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.pegasus_limits import check_style, check_sub_workflows
from pegasus_bb.planner.pegasus_home import PegasusHome
from pegasus_bb.planner.plan_summary import omission_notes
from pegasus_bb.planner.planning import plan_notes
from pegasus_bb.planner.reading import no_collection
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.rewrite.passes import rewrite_inputs
from pegasus_bb.planner.run_plan import RunPlan, plan_run


def of_planning(
    options: PlanOptions,
    given: PlanningInput,
    decision: PlacementDecision | None,
    home: PegasusHome | None,
) -> Iterator[Finding]:
    """``home``: of the Pegasus that plans, None for the built-in planner."""
    try:
        run = plan_run(options, given, decision)
        check_existing(run.submit_dir, force=options.force)
    except PegasusBBError as error:
        yield wrong("submit", str(error))
        return
    yield of_submit_dir(run.submit_dir)
    try:
        with no_collection():
            if home is None:
                yield from _of_builtin(options, given, run)
            else:
                yield from _of_pegasus(given, run)
    except PegasusBBError as error:
        yield wrong("catalogs", str(error))


def _of_builtin(
    options: PlanOptions, given: PlanningInput, run: RunPlan
) -> Iterator[Finding]:
    _check_styles(given, run)
    planned = BuiltInPlanner(options).in_memory(given, run)
    yield ok("catalogs", f"planning works; the DAG has {len(planned.jobs)} nodes")
    notes = plan_notes(given, run, is_builtin=True)
    yield from (note("planner", text) for text in (*notes, *planned.notes))


def _of_pegasus(given: PlanningInput, run: RunPlan) -> Iterator[Finding]:
    _check_styles(given, run)
    if run.placement is None:
        _check_images(given)
        yield ok("catalogs", "pegasus-plan gets them as they are")
        return
    notes = omission_notes(given, is_builtin=False)
    notes += check_sub_workflows(given, run.placement, ())
    rewrite_inputs(Inputs.of(given.workflow.document, given.catalogs), run)
    yield ok("catalogs", "nothing in them prevents a buffer")
    yield from (note("planner", text) for text in notes)


def _check_styles(given: PlanningInput, run: RunPlan) -> None:
    placement = run.placement
    for tier in (placement.tier, placement.job_tier) if placement else ():
        check_style(given.site, given.catalogs, tier.backend)


def _check_images(given: PlanningInput) -> None:
    """Mode off: pegasus-plan itself brings an image in a file to the site. It takes one
    without image.site for a file of no site. Raises CatalogError."""
    catalog = given.catalogs.transformations
    site = given.site.name
    jobs = [job for job in given.workflow.jobs.values() if job.runs_on(site)]
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
