"""Mode transient by the real pegasus-plan: it plans as ever, on the PFS; the jobs that
touch the tier get their reservations, and POST scripts that wait for their results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.dag import Dag, Node
from pegasus_bb.planner.dagreader import read_dag
from pegasus_bb.planner.deciding import (
    Decided,
    decide,
    name_run,
    no_collection,
    plan_context,
    read_given,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.ahead import reading
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.bbfiles import plan_json
from pegasus_bb.planner.pegasus.call import plan_argv
from pegasus_bb.planner.pegasus.checks import (
    check_kickstart,
    check_passed,
    check_style,
)
from pegasus_bb.planner.pegasus.folder import planned_folder, replace_text
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import in_the_folder, with_catalogs, without
from pegasus_bb.planner.pegasus.outcome import Outcome, nodes_of_jobs, read_outcome
from pegasus_bb.planner.pegasus.planned import PegasusPlanned
from pegasus_bb.planner.pegasus.reading import Found
from pegasus_bb.planner.predicting import predict
from pegasus_bb.planner.rooms import landed_post, room_files
from pegasus_bb.planner.seal.rooms import check_rooms, names
from pegasus_bb.rewrite import OF_EACH_JOB, Inputs, Plan, directives_option, rewrite
from pegasus_bb.runtime.install import install_runtime

_CLUSTERS = ("--cluster", "-C")
_ARGUMENTS = re.compile(r'(EXTRA_ARGUMENTS==\\?"[^"\\]*)(\\?")')
_POST = re.compile(r"^SCRIPT POST (\S+) ", re.MULTILINE)


def plan_rooms(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    """Plan, whole or not at all. Raises UsageError (a CatalogError says file, line and
    key; NotSealed which rule) and leaves nothing behind then."""
    with no_collection():
        _check_clusters(call.passed)
        given = read_given(options)
        decided = decide(options, given)
        named = name_run(options, decided.workflow.name)
        context = plan_context(options, decided, named, predict(decided))
        inputs = _inputs(Inputs.of(given.workflow, given.catalogs), decided, context)
        check_passed(call.passed, context.site)
        folder = planned_folder(context.submit_dir)
        argv = plan_argv(home, named.directories, folder, call.passed)
        with reading(inputs, argv, named, options, None) as planner:
            install_runtime(str(folder.parent), context.python)
            said = planner.printed()
            found = _complete(context, decided)
    return PegasusPlanned(context.submit_dir, decided, inputs, found, said, ())


def _check_clusters(passed: tuple[str, ...]) -> None:
    for word in passed:
        if word.partition("=")[0] in _CLUSTERS:
            raise UsageError(
                f"{word}: a cluster of jobs is one job of the batch system, and in "
                "mode transient each job has a reservation for its own files; leave it "
                "out, or plan with --bb-mode persistent"
            )


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


def _complete(context: PlanContext, decided: Decided) -> Found:
    """Make a run of what pegasus-plan has written. Raises CatalogError, NotSealed."""
    outcome = read_outcome(context.submit_dir)
    dag = read_dag(outcome.dag_file)
    request, placement = context.transient, decided.placement
    assert request is not None  # noqa: S101 - this is mode transient
    assert placement is not None  # noqa: S101
    nodes = list(nodes_of_jobs(outcome, dag))
    name = outcome.dag_file.name
    files = dict(_files(context, decided, nodes))
    files["plan.json"] = plan_json(context, outcome.version, name, request.prefix)
    for path, data in files.items():
        file = context.submit_dir / "bb" / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    waiting = dict(_posts(context, dag, nodes, placement.rooms))
    _replace_posts(outcome, waiting)
    if request.backend == "datawarp":
        for job, node in nodes:
            if job in placement.rooms:
                option = directives_option(context.submit_dir, job)
                _add_option(outcome, dag.nodes[node], option)
    sealed = read_dag(outcome.dag_file)
    check_rooms(sealed, context.submit_dir)
    return Found(outcome, sealed, [], request.prefix, {})


def _files(
    context: PlanContext, decided: Decided, nodes: list[tuple[str, str]]
) -> Iterator[tuple[str, bytes]]:
    request = context.transient
    assert request is not None  # noqa: S101 - this is mode transient
    yield from room_files(context, decided.catalogs, nodes, request.prefix, {})


def _posts(
    context: PlanContext,
    dag: Dag,
    nodes: list[tuple[str, str]],
    rooms: Mapping[str, object],
) -> Iterator[tuple[str, str]]:
    """Node -> the line of the .dag that is its POST script."""
    for job, node in nodes:
        post = dag.nodes[node].post
        if job in rooms and post is not None:
            waits = landed_post(post, node, context)
            defer = f"SCRIPT DEFER {waits.defer_status} {waits.defer_time} POST {node}"
            yield node, f"{defer} {waits.executable} {waits.arguments}"


def _replace_posts(outcome: Outcome, lines: Mapping[str, str]) -> None:
    """In their places: DAGMan does not take a second POST script of a node."""
    file: Path = outcome.dag_file
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    changed = [_line(line, lines) for line in text.split("\n")]
    data = "\n".join(changed).encode("utf-8", "surrogateescape")
    if text.count("\n") != data.count(b"\n"):
        raise CatalogError("a POST script has a line break", str(file))
    replace_text(file, data)


def _add_option(outcome: Outcome, node: Node, option: str) -> None:
    """Where the site, its programs or the properties say glite.arguments too,
    pegasus-plan lets those stand in the place of a job's own."""
    text = outcome.text(node)
    if not names(text, option):
        file = outcome.folder / node.directory / node.submit_file
        changed = _ARGUMENTS.sub(rf"\1 {option}\2", text)
        replace_text(file, changed.encode("utf-8", "surrogateescape"))


def _line(line: str, lines: Mapping[str, str]) -> str:
    found = _POST.match(line)
    return lines.get(found[1], line) if found else line
