"""The steps of the built-in planner."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import read_programs, read_sites
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.workflow import read_workflow, with_own_runs
from pegasus_bb.planner.builtin.build import build
from pegasus_bb.planner.builtin.executable import BuiltInExecutable, RewrittenWorkflow
from pegasus_bb.planner.builtin.planner_limits import check_path_overlap
from pegasus_bb.planner.builtin.write import check_files, write
from pegasus_bb.planner.node_programs import tools_to_fetch
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.reading import leave_out_absent
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.rewrite.passes import rewrite_inputs
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.runfiles import File, node_files, pfs_scratch, run_files
from pegasus_bb.planner.seal.sealing import complete


class BuiltInPlanner:
    """See ``Planner``. Raises UsageError for options that it does not have."""

    is_builtin = True

    def __init__(self, options: PlanOptions) -> None:
        options.check_builtin()

    def check(self, given: PlanningInput, run: RunPlan) -> list[str]:
        return list(tools_to_fetch(given))

    def rewrite(self, given: PlanningInput, run: RunPlan) -> Inputs:
        if given.nodes_see_a_tier_alone and not given.settings.mode.uses_tier:
            from pegasus_bb.planner.travelling_limits import check_off  # few pools

            check_off(given)
        return rewrite_inputs(Inputs.of(given.workflow.document, given.catalogs), run)

    def claim(self, run: RunPlan) -> AbstractContextManager[object]:
        return nullcontext()  # ``write`` renames a hidden folder at its end

    def plan(
        self, rewritten: Inputs, given: PlanningInput, run: RunPlan
    ) -> tuple[BuiltInExecutable, RunPlan]:
        built = build(_parse(rewritten, given, run), run)
        if not run.clusters:
            return built, run
        from pegasus_bb.planner.builtin.cluster_nodes import with_clusters

        return with_clusters(built, given, run)

    def write(
        self, executable: BuiltInExecutable, given: PlanningInput, run: RunPlan
    ) -> None:
        _check_overlap(executable, given, run)
        few: Iterable[File] = run_files(executable, given, run)
        if executable.runs:
            from pegasus_bb.planner.builtin.own_runs import run_specifications

            few = chain(few, run_specifications(executable, given, run))
        many = partial(node_files, executable, given, run)
        has_many = run.decision is not None or run.is_private
        write(executable, run, few, many if has_many else None)

    def check_plan(self, given: PlanningInput, run: RunPlan) -> None:
        _check_overlap(self.in_memory(given, run), given, run)

    def in_memory(self, given: PlanningInput, run: RunPlan) -> BuiltInExecutable:
        """The workflow that ``plan`` would write. Raises UsageError as that does."""
        built, run = self.plan(self.rewrite(given, run), given, run)
        executable = complete(built, given.workflow, run)
        check_files(executable, run)
        return executable


def _check_overlap(
    executable: BuiltInExecutable, given: PlanningInput, run: RunPlan
) -> None:
    scratch = pfs_scratch(executable, given, run)
    check_path_overlap(executable, given.workflow, given.catalogs, scratch)


def _parse(rewritten: Inputs, given: PlanningInput, run: RunPlan) -> RewrittenWorkflow:
    if run.rewriting is None:
        return RewrittenWorkflow(given.workflow, given.graph, given.catalogs)
    catalogs = replace(  # no pass changes the replicas, and --input-dir is in them
        given.catalogs,
        properties=rewritten.properties,
        sites=read_sites(rewritten.sites),
        transformations=read_programs(rewritten.transformations, rewritten.properties),
    )
    workflow = read_workflow(rewritten.workflow, given.workflow)
    leave_out_absent(workflow, given.catalogs.replicas.replicas)
    workflow = with_own_runs(workflow)
    return RewrittenWorkflow(workflow, build_graph(workflow), catalogs)
