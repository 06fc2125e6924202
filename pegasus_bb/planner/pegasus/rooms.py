"""Mode transient by the real pegasus-plan: it plans as ever, on the PFS; the jobs that
touch the tier get their reservations, one for each cluster, and POST scripts that wait
for their results."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from pegasus_bb.dag.reader import read_dag
from pegasus_bb.placement import join_rooms, planned_rooms
from pegasus_bb.planner.containers import containers_file
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import (
    Decided,
    decide,
    name_run,
    no_collection,
    plan_context,
    read_given,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.addrooms import add_rooms
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.bbfiles import plan_json
from pegasus_bb.planner.pegasus.call import plan_argv, started_planner
from pegasus_bb.planner.pegasus.checks import (
    check_kickstart,
    check_passed,
    check_style,
)
from pegasus_bb.planner.pegasus.folder import planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import in_the_folder, with_catalogs, without
from pegasus_bb.planner.pegasus.outcome import clusters_of, nodes_of_jobs, read_outcome
from pegasus_bb.planner.pegasus.planned import PegasusPlanned
from pegasus_bb.planner.pegasus.reading import Found
from pegasus_bb.planner.predicting import predict
from pegasus_bb.planner.rooms import transient_files
from pegasus_bb.rewrite import OF_EACH_JOB, Inputs, Plan, rewrite
from pegasus_bb.runtime.install import install_runtime


def plan_rooms(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    """Plan, whole or not at all. Raises UsageError (a CatalogError says file, line and
    key; NotSealed which rule) and leaves nothing behind then."""
    with no_collection():
        given = read_given(options)
        decided = decide(options, given)
        named = name_run(options, decided.workflow.name)
        context = plan_context(options, decided, named, predict(decided))
        inputs = _inputs(Inputs.of(given.workflow, given.catalogs), decided, context)
        check_passed(call.passed, context.site)
        folder = planned_folder(context.submit_dir)
        argv = plan_argv(home, named.directories, folder, call.passed)
        with started_planner(inputs, argv, named, options) as planner:
            install_runtime(str(folder.parent), context.python)
            said = planner.printed()
            found, decided = _complete(context, decided)
    return PegasusPlanned(context.submit_dir, decided, inputs, found, said, ())


def _inputs(before: Inputs, decided: Decided, context: PlanContext) -> Inputs:
    """What pegasus-plan reads. Raises CatalogError, UsageError."""
    request, placement = context.transient, decided.placement
    assert request is not None  # noqa: S101 - this is mode transient
    assert placement is not None  # noqa: S101
    check_style(decided.site, decided.catalogs, request.backend)
    check_kickstart(before, context.site)
    knows = Plan(context.site, placement, request, context.submit_dir)
    changed = rewrite(before, knows, OF_EACH_JOB)
    folder = planned_folder(context.submit_dir)
    return replace(
        changed,
        sites=in_the_folder(changed.sites, context.site),
        workflow=changed.workflow.with_data(without(changed.workflow.data)),
        properties=with_catalogs(changed.properties, folder),
    )


def _complete(context: PlanContext, decided: Decided) -> tuple[Found, Decided]:
    """Make a run of what pegasus-plan has written; what was decided, with the clusters
    that it made. Raises CatalogError, NotSealed."""
    outcome = read_outcome(context.submit_dir)
    request = context.transient
    assert request is not None  # noqa: S101 - this is mode transient
    dag = read_dag(outcome.dag_file)
    nodes = list(nodes_of_jobs(outcome, dag))
    clusters = clusters_of(outcome, dag, nodes)
    decided = _planned(decided, dict(nodes), clusters)
    # A prediction is of single jobs; a cluster runs and reserves for all of its jobs.
    predicted = None if clusters else context.predicted
    context = replace(context, placement=decided.placement, predicted=predicted)
    nodes = [pair for pair in nodes if pair[1] not in clusters]
    nodes += [(name, name) for name in clusters]
    scratch, name = request.prefix, outcome.dag_file.name
    files = dict(transient_files(context, decided.catalogs, nodes, scratch, {}))
    site = decided.site
    files.update(containers_file(decided.workflow, decided.catalogs, site))
    files["plan.json"] = plan_json(context, outcome.version, name, scratch)
    sealed = add_rooms(context, outcome, dag, nodes, files)
    return Found(outcome, sealed, [], scratch, {}), decided


def _planned(
    decided: Decided, jobs: Container[str], clusters: Mapping[str, list[str]]
) -> Decided:
    """Only ``jobs`` have rooms, and a cluster of them one, by its own name."""
    placement = decided.placement
    assert placement is not None  # noqa: S101 - this is mode transient
    placement = planned_rooms(placement, jobs)
    if clusters:
        known = (decided.workflow, decided.catalogs, decided.settings)
        placement = join_rooms(*known, placement, clusters)
    return replace(decided, placement=placement)
