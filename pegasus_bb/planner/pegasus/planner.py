"""The steps of planning by the real pegasus-plan."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.planner.options import runs_folder
from pegasus_bb.planner.pegasus.call import plan_argv, run_planner
from pegasus_bb.planner.pegasus.complete_submit_dir import with_clusters, write_planned
from pegasus_bb.planner.pegasus.containers import (
    check_images,
    inner_containers,
    with_images,
)
from pegasus_bb.planner.pegasus.exclusive_folder import claim, planned_folder
from pegasus_bb.planner.pegasus.inner_settings import (
    inner_folder,
    inner_inputs,
    with_inner_settings,
)
from pegasus_bb.planner.pegasus.pegasus_inputs import (
    for_pegasus,
    on_the_site,
    write_inputs,
    write_settings,
)
from pegasus_bb.planner.pegasus.pegasus_limits import (
    check_clusters,
    check_kickstart,
    check_node_names,
    check_passed,
    check_styles,
    check_sub_workflows,
    without_clusters,
)
from pegasus_bb.planner.pegasus.read_submit_dir import PegasusWorkflow, read_planned
from pegasus_bb.planner.pegasus_home import PegasusHome
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.rewrite.passes import rewrite_inputs
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.runtime.install import install_runtime


@dataclass(frozen=True)
class PegasusPlanner:
    """See ``Planner``. It plans on a burst buffer only: in mode off pegasus-plan needs
    no help."""

    home: PegasusHome
    passed: tuple[str, ...]  # arguments for pegasus-plan
    is_builtin = False

    def check(self, given: PlanningInput, run: RunPlan) -> list[str]:
        placement = run.placement
        if placement is None:
            return []
        check_styles(given, placement)
        check_kickstart(Inputs.of(given.workflow.document, given.catalogs), run.site)
        check_node_names(given.workflow)
        check_images(given)
        check_passed(self.passed)
        if run.files_travel:
            from pegasus_bb.planner.travelling_limits import refuse_pegasus  # few pools

            refuse_pegasus(given, placement.tier)
        if run.request is None:
            return []
        if run.jobs_travel:
            from pegasus_bb.planner.pegasus.travelling_jobs import check_own_jobs

            check_own_jobs(given)
        if run.job_reservations:
            check_clusters(self.passed, run.mode)
        for _, inputs in inner_inputs(given, run, planned_folder(run.submit_dir)):
            check_kickstart(inputs, run.site)
        inner_containers(given, run)  # refuses what cannot be started
        return check_sub_workflows(given, placement)

    def rewrite(self, given: PlanningInput, run: RunPlan) -> Inputs:
        inputs = Inputs.of(given.workflow.document, given.catalogs)
        rewritten = with_images(rewrite_inputs(inputs, run), given)
        self._argv(run)  # refuses what pegasus-plan's script would misread
        folder = planned_folder(run.submit_dir)
        inputs = for_pegasus(rewritten, run, folder)
        if run.may_run_here:
            inputs = on_the_site(inputs, given)
        return with_inner_settings(inputs, given, folder) if run.request else inputs

    def claim(self, run: RunPlan) -> AbstractContextManager[object]:
        return claim(
            run.submit_dir, force=run.force, runs=run.base_dir / runs_folder(run.label)
        )

    def plan(
        self, rewritten: Inputs, given: PlanningInput, run: RunPlan
    ) -> tuple[PegasusWorkflow, RunPlan]:
        folder = planned_folder(run.submit_dir)
        write_inputs(rewritten, folder)
        for job, inputs in inner_inputs(given, run, folder) if run.request else ():
            write_settings(inputs, inner_folder(folder, job))
        install_runtime(str(folder.parent), run.python, is_kept=run.is_kept)
        printed = run_planner(self._argv(run), folder, run.cwd)
        planned = replace(read_planned(run), printed=printed)
        if run.request is not None:
            more = inner_containers(given, run)
            planned = replace(planned, inner_containers=more)
        return with_clusters(planned, given, run)

    def write(
        self, executable: PegasusWorkflow, given: PlanningInput, run: RunPlan
    ) -> None:
        write_planned(executable, given, run)

    def check_plan(self, given: PlanningInput, run: RunPlan) -> None:
        self.check(given, run)
        self.rewrite(given, run)

    def _argv(self, run: RunPlan) -> Sequence[str]:
        passed = self.passed
        if run.chains:
            passed = (*without_clusters(passed), "--cluster", ",".join(run.clusters))
        return plan_argv(self.home, run, planned_folder(run.submit_dir), passed)
