"""``plan`` for a program: a submit directory, and what the command prints of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pegasus_bb.api.keywords import FilePath, Keywords, options_of
from pegasus_bb.api.notebook import fragment
from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus.planner import PegasusPlanner
from pegasus_bb.planner.pegasus_home import planner_line
from pegasus_bb.planner.planning import PlanResult, ResolvedOptions, resolve_options
from pegasus_bb.planner.planning import plan as make_plan
from pegasus_bb.planner.seal.sealing import AnyWorkflow

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class WorkflowPlan:
    """The result of ``plan``: a submit directory, and what the command prints of it."""

    workflow: str  # its name
    submit_dir: Path  # absolute
    mode: str  # off | persistent | transient | hybrid
    request: Request | None  # what will be reserved for all jobs together
    planner: str  # which one, and why
    summary: tuple[str, ...]  # mode, tier, capacity, and what set each
    notes: tuple[str, ...]  # what the planner leaves out

    @property
    def command(self) -> str:
        """The command that runs it."""
        return f"pegasus-bb run {self.submit_dir}"

    def __str__(self) -> str:
        lines = (*self.notes, self.planner, *self.summary)
        return "\n".join((*lines, f"run it: {self.command}"))

    def _repr_html_(self) -> str:
        """For Jupyter."""
        rows = [tuple(_divided(line)) for line in (self.planner, *self.summary)]
        title = f"{self.workflow} is planned."
        return fragment(title, self.notes, rows=rows, code=self.command)


def plan(
    workflow: FilePath = "workflow.yml", **options: Unpack[Keywords]
) -> WorkflowPlan:
    """Plan ``workflow`` as ``pegasus-bb plan`` does; the mode is off by default.

    Raises UsageError (a CatalogError says file, line and key); nothing is left behind
    then.
    """
    chosen = resolve_options(options_of(workflow, options))
    home = chosen.home
    given = chosen.options
    if home is None:
        return _planned(chosen, make_plan(given, BuiltInPlanner(given)))
    if not chosen.settings.mode.uses_tier:
        raise UsageError(
            "mode off with a real pegasus-plan is a plain planning: Workflow.plan() of "
            "Pegasus.api does it; or say bb_planner='builtin'"
        )
    planner = PegasusPlanner(home, tuple(_passed(given)))
    return _planned(chosen, make_plan(given, planner))


def _planned(chosen: ResolvedOptions, done: PlanResult[AnyWorkflow]) -> WorkflowPlan:
    version = "" if chosen.home is None else done.executable.planner
    return WorkflowPlan(
        done.given.workflow.name,
        done.submit_dir,
        chosen.settings.mode.name,
        done.run.request,
        planner_line(chosen.properties, chosen.home, version),
        done.summary,
        done.notes,
    )


def _passed(options: PlanOptions) -> Iterator[str]:
    """Yield the options for pegasus-plan; it gets conf, properties and folders
    anyway."""
    if options.sites:
        yield from ("--sites", ",".join(options.sites))
    if options.output_sites:
        yield from ("--output-sites", ",".join(options.output_sites))
    if options.output_dir is not None:
        yield from ("--output-dir", str(options.output_dir))
    yield from ("--cleanup", options.cleanup)
    if options.clusters:
        yield from ("--cluster", ",".join(options.clusters))
    if options.force:
        yield "--force"


def _divided(line: str) -> tuple[str, str]:
    name, _, rest = line.partition(": ")
    return (name, rest.strip()) if rest else ("", line)
