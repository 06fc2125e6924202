"""Planning by the real pegasus-plan: rewrite, let it plan, complete what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.model.reservation import Request
from pegasus_bb.model.settings import read_settings
from pegasus_bb.planner.bbjson import as_json
from pegasus_bb.planner.deciding import (
    decide,
    name_run,
    no_collection,
    plan_context,
    properties_of,
    read_given,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.addrooms import (
    add_rooms,
    check_clusters,
)
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.call import plan_argv, started_planner
from pegasus_bb.planner.pegasus.checks import (
    check_kickstart,
    check_passed,
    check_style,
    check_sub_workflows,
)
from pegasus_bb.planner.pegasus.completion import Completion
from pegasus_bb.planner.pegasus.folder import planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import for_pegasus
from pegasus_bb.planner.pegasus.outcome import nodes_of_jobs
from pegasus_bb.planner.pegasus.planned import PegasusPlanned
from pegasus_bb.planner.pegasus.reading import Reader
from pegasus_bb.planner.pegasus.rooms import plan_rooms
from pegasus_bb.planner.predicting import predict
from pegasus_bb.planner.rooms import room_files
from pegasus_bb.rewrite import Inputs, Plan, directive_files, rewrite
from pegasus_bb.runtime.install import install_runtime


def plan_on_tier(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    """Plan on a burst buffer, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    mode = read_settings(properties_of(options), options.cwd).mode
    if mode == "transient":
        return plan_rooms(options, call, home)
    with no_collection():
        return _plan(options, call, home)


def _plan(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    given = read_given(options)
    decided = decide(options, given)
    named = name_run(options, decided.workflow.name)
    context = plan_context(options, decided, named, predict(decided))
    request, placement = context.request, decided.placement
    assert request is not None  # noqa: S101 - mode off does not come here
    assert placement is not None  # noqa: S101
    for tier in (placement.tier, placement.room_tier):
        check_style(decided.site, decided.catalogs, tier.backend)
    check_passed(call.passed, context.site)
    notes = check_sub_workflows(decided, call.passed)
    if placement.rooms:
        check_clusters(call.passed, context.mode)
    folder = planned_folder(context.submit_dir)
    knows = Plan(context.site, placement, request, context.submit_dir)
    before = Inputs.of(given.workflow, given.catalogs)
    check_kickstart(before, context.site)
    inputs = _rewritten(before, knows)
    argv = plan_argv(home, named.directories, folder, call.passed)
    with started_planner(inputs, argv, named, options) as planner:
        _write_known(folder.parent, request, directive_files(knows))
        install_runtime(str(folder.parent), context.python)
        said = planner.printed()
        found = Reader(context, request, decided.workflow).found()
        Completion(decided, context, request, options.force).finish(found)
        if context.transient is not None:
            nodes = list(nodes_of_jobs(found.outcome, found.dag))
            files = dict(room_files(context, decided.catalogs, nodes))
            add_rooms(context, found.outcome, found.dag, nodes, files)
    return PegasusPlanned(
        context.submit_dir, decided, inputs, found, said, tuple(notes)
    )


def _rewritten(given: Inputs, knows: Plan) -> Inputs:
    folder = planned_folder(knows.submit_dir)
    return for_pegasus(rewrite(given, knows), knows.site, folder)


def _write_known(bb: Path, request: Request, directives: Mapping[str, str]) -> None:
    """What of bb/ is known before."""
    (bb / "request.json").write_bytes(as_json(request.to_json()))
    for name, text in directives.items():
        (bb / name).write_text(text, encoding="utf-8")
