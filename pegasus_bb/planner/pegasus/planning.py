"""Planning by the real pegasus-plan: rewrite, let it plan, complete what it wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import (
    Decided,
    name_run,
    no_collection,
    plan_context,
    read_and_decide,
)
from pegasus_bb.planner.left_out import left_out
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.arguments import Call
from pegasus_bb.planner.pegasus.call import plan_argv, started_planner
from pegasus_bb.planner.pegasus.checks import (
    check_clusters,
    check_kickstart,
    check_passed,
    check_style,
    check_sub_workflows,
)
from pegasus_bb.planner.pegasus.completion import complete_planned
from pegasus_bb.planner.pegasus.folder import planned_folder
from pegasus_bb.planner.pegasus.home import Home
from pegasus_bb.planner.pegasus.inputs import for_pegasus
from pegasus_bb.planner.pegasus.submitdir import PegasusWorkflow
from pegasus_bb.planner.predicting import predict
from pegasus_bb.planner.rewriting import rewritten_inputs
from pegasus_bb.rewrite import Inputs
from pegasus_bb.runtime.install import install_runtime


@dataclass(frozen=True)
class PegasusPlanned:
    """A submit directory of pegasus-plan's that is sealed, and all it was made from: a
    process that ends with it need not take millions of objects apart."""

    submit_dir: Path
    decided: Decided
    inputs: Inputs  # what pegasus-plan read
    executable: PegasusWorkflow
    said: bytes  # what pegasus-plan printed
    notes: tuple[str, ...]

    @property
    def planner(self) -> str:
        """pegasus-plan and its version."""
        return self.executable.planner

    @property
    def summary(self) -> tuple[str, ...]:
        """Mode, tier, capacity, and where each was said."""
        return self.decided.summary()


def plan_on_tier(options: PlanOptions, call: Call, home: Home) -> PegasusPlanned:
    """Plan on a burst buffer, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        decided = read_and_decide(options)
        named = name_run(options, decided.workflow.name)
        context = plan_context(options, decided, named, predict(decided))
        folder = planned_folder(context.submit_dir)
        before = Inputs.of(decided.workflow.document, decided.catalogs)
        notes = left_out(decided, is_builtin=False)
        notes += _check(call, before, decided, context)
        inputs = rewritten_inputs(before, context)
        on_buffer = context.request is not None
        inputs = for_pegasus(inputs, context.site, folder, on_buffer)
        argv = plan_argv(home, named.directories, folder, call.passed)
        with started_planner(inputs, argv, named, options) as planner:
            install_runtime(str(folder.parent), context.python)
            said = planner.printed()
            planned, decided = complete_planned(decided, context, options.force)
    return PegasusPlanned(
        context.submit_dir, decided, inputs, planned, said, tuple(notes)
    )


def _check(
    call: Call, inputs: Inputs, decided: Decided, context: PlanContext
) -> list[str]:
    """Notes for the user. Raises CatalogError, UsageError for what would not work."""
    placement = context.placement
    assert placement is not None  # noqa: S101 - mode off does not come here
    for tier in (placement.tier, placement.job_tier):
        check_style(decided.site, decided.catalogs, tier.backend)
    check_kickstart(inputs, context.site)
    check_passed(call.passed, context.site)
    if context.request is None:
        return []
    if placement.job_reservations:
        check_clusters(call.passed, context.mode)
    return check_sub_workflows(decided, call.passed)
