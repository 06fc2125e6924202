"""Planning by the real pegasus-plan: rewrite, let it plan, complete what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.settings import read_settings
from pegasus_bb.planner.bbjson import as_json
from pegasus_bb.planner.choices import choose_tier, execution_site
from pegasus_bb.planner.deciding import (
    Given,
    decide,
    make_request,
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
    refuse_clusters,
)
from pegasus_bb.planner.pegasus.ahead import (
    Ahead,
    Unforeseen,
    reading,
    started_ahead,
)
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.call import plan_argv
from pegasus_bb.planner.pegasus.checks import (
    check_kickstart,
    check_passed,
    check_style,
    check_sub_workflows,
)
from pegasus_bb.planner.pegasus.completion import Completion
from pegasus_bb.planner.pegasus.folder import planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import files_for_pegasus, for_pegasus
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
        if mode == "hybrid":  # what pegasus-plan reads depends on who has a room
            return _plan(options, call, home, None)
        try:
            with started_ahead(options, call, home) as ahead:
                return _plan(options, call, home, ahead)
        except Unforeseen:
            return _plan(options, call, home, None)


def _plan(
    options: PlanOptions, call: Call, home: Home, ahead: Ahead | None
) -> PegasusPlanned:
    given = read_given(options)
    if ahead is not None:
        _give_early(options, given, ahead)
    decided = decide(options, given)
    label = decided.workflow.name
    named = ahead.named(label) if ahead else name_run(options, label)
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
    if placement.opens_late:
        why = "some jobs run before the reservation is asked for, others with it"
        refuse_clusters(call.passed, why, "--bb-open start")
    if placement.closes_early:
        why = "some jobs run when the reservation is given back, others before"
        refuse_clusters(call.passed, why, "--bb-close end")
    folder = planned_folder(context.submit_dir)
    knows = Plan(context.site, placement, request, context.submit_dir)
    before = Inputs.of(given.workflow, given.catalogs)
    check_kickstart(before, context.site)
    inputs = _rewritten(before, knows)
    argv = plan_argv(
        home, named.directories, folder, call.passed, options.absolute(options.workflow)
    )
    with reading(inputs, argv, named, options, ahead) as planner:
        _write_known(folder.parent, request, directive_files(knows))
        install_runtime(str(folder.parent), context.python)
        reader = Reader(context, request, decided.workflow)
        completion = Completion(decided, context, request, options.force)
        reader.begin(planner.has_ended)
        completion.prepare(reader.early)
        said = planner.printed()
        found = reader.found()
        completion.finish(found)
        if context.transient is not None:
            nodes = list(nodes_of_jobs(found.outcome, found.dag))
            files = dict(room_files(context, decided.catalogs, nodes))
            add_rooms(context, found.outcome, found.dag, nodes, files)
    return PegasusPlanned(
        context.submit_dir, decided, inputs, found, said, tuple(notes)
    )


def _give_early(options: PlanOptions, given: Given, ahead: Ahead) -> None:
    """Where files live is no part of what pegasus-plan reads."""
    try:
        site = execution_site(options, given.catalogs).name
        tier = choose_tier(given.catalogs, given.settings, site)
        undecided = Placement(tier, {}, need=0, unknown=(), capacity=0)
        request = make_request(undecided, given.settings, ahead.uuid)
        knows = Plan(site, undecided, request, ahead.submit_dir)
        inputs = _rewritten(Inputs.of(given.workflow, given.catalogs), knows)
        files = dict(files_for_pegasus(inputs))
    except (PegasusBBError, LookupError, TypeError, ValueError, AttributeError):
        return  # nobody has looked yet whether the workflow is one: deciding does
    ahead.give(inputs, files)


def _rewritten(given: Inputs, knows: Plan) -> Inputs:
    folder = planned_folder(knows.submit_dir)
    return for_pegasus(rewrite(given, knows), knows.site, folder)


def _write_known(bb: Path, request: Request, directives: Mapping[str, str]) -> None:
    """What of bb/ is known before."""
    (bb / "request.json").write_bytes(as_json(request.to_json()))
    for name, text in directives.items():
        (bb / name).write_text(text, encoding="utf-8")
