"""How a plan is made: read, place, rewrite, plan, complete, write."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.builtin.build import build
from pegasus_bb.planner.builtin.executable import Executable
from pegasus_bb.planner.builtin.planner_limits import check_path_overlap
from pegasus_bb.planner.builtin.write import check_files, write
from pegasus_bb.planner.darshan_preload import missing_darshan_note
from pegasus_bb.planner.drain_files import plan_drain
from pegasus_bb.planner.existing_submit_dir import check_existing
from pegasus_bb.planner.local_files import check_local_files
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.plan_summary import (
    check_can_be_fetched,
    omission_notes,
    summary,
)
from pegasus_bb.planner.predictions import predict
from pegasus_bb.planner.reading import no_collection, read_and_decide, rewrite_planning
from pegasus_bb.planner.run_plan import RunPlan, plan_run
from pegasus_bb.planner.runfiles import node_files, pfs_scratch, run_files
from pegasus_bb.planner.seal.sealing import complete


@dataclass(frozen=True)
class PlanResult:
    """A planned submit directory, its inputs, and notes for the user."""

    submit_dir: Path
    mode: str
    request: Request | None
    decided: PlanningInput
    executable: Executable

    @property
    def nodes(self) -> int:
        return len(self.executable.jobs)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.executable.notes)

    @property
    def summary(self) -> tuple[str, ...]:
        return summary(self.decided)

    def as_json(self) -> str:
        """The plan in the form of ``pegasus-plan --json``."""
        braindump = (self.submit_dir / "braindump.yml").read_text().splitlines()
        pairs = (line.split(": ", 1) for line in braindump)
        data = {key: json.loads(value) for key, value in pairs}
        data["message"] = "The workflow is planned; run it with pegasus-bb run"
        data["pegasus-run"] = f"pegasus-bb run {self.submit_dir}"
        return json.dumps(data, indent=2)


def plan(options: PlanOptions) -> PlanResult:
    """Turn an abstract workflow into a submit directory, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        options.check_builtin()
        decided = read_and_decide(options)
        check_local_files(options, decided)
        context = plan_run(options, decided, predict(decided), plan_drain(decided))
        check_existing(context.submit_dir, options.force)
        planning = rewrite_planning(decided, context)
        executable = _build(decided, planning, context)
        scratch = pfs_scratch(executable, decided, context)
        check_path_overlap(executable, decided.catalogs, scratch)
        on_tier = context.placement is not None
        write(
            executable,
            planning,
            context,
            run_files(executable, decided, context),
            partial(node_files, executable, decided, context) if on_tier else None,
            options.force,
        )
    return PlanResult(
        context.submit_dir, context.mode, context.request, decided, executable
    )


def check_can_be_planned(options: PlanOptions, decided: PlanningInput) -> None:
    """Raises UsageError for everything that ``plan`` would refuse; writes nothing."""
    options.check_builtin()
    check_local_files(options, decided)
    context = plan_run(options, decided, None, plan_drain(decided))
    check_existing(context.submit_dir, options.force)
    executable = plan_in_memory(decided, context)
    scratch = pfs_scratch(executable, decided, context)
    check_path_overlap(executable, decided.catalogs, scratch)


def plan_in_memory(decided: PlanningInput, context: RunPlan) -> Executable:
    """What ``plan`` would write. Raises UsageError as ``plan`` does."""
    planning = rewrite_planning(decided, context)
    executable = _build(decided, planning, context)
    check_files(executable, planning, context)
    return executable


def _build(
    decided: PlanningInput, planning: PlanningInput, context: RunPlan
) -> Executable:
    check_can_be_fetched(decided)
    built = build(planning, context)
    notes = omission_notes(decided, is_builtin=True)
    notes += missing_darshan_note(decided.settings.darshan, context.darshan)
    built = replace(built, notes=[*notes, *built.notes])
    return complete(built, decided.workflow, context)
