"""``explain`` for a program: where every file of a workflow would live, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pegasus_bb.api.explained_text import (
    file_rows,
    group_rows,
    table_lines,
    total_lines,
)
from pegasus_bb.api.explanation import Explanation
from pegasus_bb.api.explanation import explain as explain_decision
from pegasus_bb.api.keywords import FilePath, Keywords, options_of
from pegasus_bb.api.notebook import fragment
from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.declared_speeds import without_speeds
from pegasus_bb.decide.lint_files import lint_replicas
from pegasus_bb.decide.liveness import live_in_levels
from pegasus_bb.decide.place_files import place, with_capacity
from pegasus_bb.decide.run_times import times_error
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.prediction_text import shown
from pegasus_bb.model.modes import MODES, OFF, PERSISTENT
from pegasus_bb.planner.drain_files import drain_gain, gain_line, plan_drain
from pegasus_bb.planner.drain_plan import DrainPlan
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.plan_summary import folders_line
from pegasus_bb.planner.predicting import compare
from pegasus_bb.planner.reading import no_collection, note_on_mode, read
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.run_plan import output_sites

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class WorkflowExplanation:
    """The result of ``explain``: what ``pegasus-bb explain`` shows."""

    given: PlanningInput
    decision: PlacementDecision
    explanation: Explanation
    predicted: Compared | None  # what each mode would take; None without speeds
    drain: dict[str, Any] | None  # bytes per second to the PFS, now and paced
    refused: UsageError | None  # why ``plan`` would refuse it

    def to_json(self) -> dict[str, Any]:
        """Return it as ``explain --json`` writes it (docs/reference/json.md), for
        orjson."""
        more: dict[str, Any] = {}
        more |= (
            {} if self.predicted is None else {"predicted": self.predicted.to_json()}
        )
        error = times_error(self.given)
        more |= {} if error is None else {"times_error": error}
        more |= {} if self.drain is None else {"drain": self.drain}
        return {**self.explanation.to_json(), **more}

    def to_lines(self, *, files: bool = False) -> Iterator[str]:
        """Yield what the command prints; ``files``: every file, not groups of them."""
        rows = file_rows if files else group_rows
        yield from table_lines(rows(self.explanation))
        yield from total_lines(self.explanation, self.decision, self.given.settings)
        if self.predicted is not None:
            yield from ("", *shown(self.predicted))
        if self.drain is not None:
            yield gain_line(self.drain)
        yield folders_line(self.given)

    def notes(self) -> Iterator[str]:
        """Yield what else a reader must know."""
        mode = note_on_mode(self.given.catalogs.properties)
        if mode:
            yield mode
        chosen = self.predicted.choice.mode if self.predicted else PERSISTENT.name
        if self.given.settings.mode.is_chosen and chosen != PERSISTENT.name:
            what = "no tier" if chosen == OFF.name else f"mode {chosen}"
            yield f"auto takes {what}; the table of files shows mode persistent"
        yield from self.given.notes

    def __str__(self) -> str:
        refused = [f"plan would refuse it: {self.refused}"] if self.refused else []
        return "\n".join((*self.to_lines(), *self.notes(), *refused))

    def __repr__(self) -> str:
        found = self.explanation
        return (
            f"<WorkflowExplanation: {self.given.workflow.name}, {len(found.files)} "
            f"files, tier {found.tier} of {found.site}>"
        )

    def _repr_html_(self) -> str:
        """For Jupyter."""
        head, *rows = group_rows(self.explanation)
        found = self.explanation
        title = f"{self.given.workflow.name} on tier {found.tier} of {found.site}"
        refused = f"plan would refuse it: {self.refused}" if self.refused else ""
        below = total_lines(found, self.decision, self.given.settings)
        predicted = () if self.predicted is None else shown(self.predicted)
        lines = (refused, *self.notes())
        code = "\n".join((*below, "", *predicted)).strip()
        return fragment(title, lines, head=head, rows=rows, code=code, right=(1,))


def explain(
    workflow: FilePath = "workflow.yml", **options: Unpack[Keywords]
) -> WorkflowExplanation:
    """Explain where the files of ``workflow`` would live, as ``pegasus-bb explain``
    does; the mode is persistent by default. Writes nothing and asks no scheduler.

    Raises UsageError for files that cannot be read and options that are wrong; what
    ``plan`` alone would refuse is in the result's ``refused``.
    """
    with no_collection():
        return explained(options_of(workflow, options, mode="persistent"))


def explained(
    options: PlanOptions,
    *,
    elsewhere: bool = False,
    compared: Compared | None = None,
) -> WorkflowExplanation:
    """Explain as ``explain`` does. ``elsewhere``: inputs may have replicas that only
    pegasus-plan knows. ``compared``: the modes, where they are known already."""
    given = read(options)
    decision = place(given)
    if decision is None:
        raise UsageError("with --bb-mode off every file lives on the PFS")
    output_sites(options, given.catalogs)
    drain: DrainPlan | None = None
    refused: UsageError | None = None
    try:
        files = () if elsewhere else decision.placement.files.values()
        lint_replicas(given.workflow, given.catalogs, files)
        decision = with_capacity(given, decision)
        drain = plan_drain(given, decision)
        _check_requests(given, decision)
    except UsageError as error:
        refused = error
    most = max(live_in_levels(given, decision.placement), default=0)
    explanation = explain_decision(decision, given.settings, most)
    compared = compared or compare(given, decision)
    if given.settings.mode.is_chosen:
        if compared is None:
            refused = refused or without_speeds(given, "--bb-mode auto")
        elif _is_other(compared):
            chosen = replace(options, chosen_mode=compared.choice.mode)
            return explained(chosen, elsewhere=elsewhere, compared=compared)
    gain = drain_gain(given, decision, drain)
    return WorkflowExplanation(given, decision, explanation, compared, gain, refused)


def _is_other(compared: Compared) -> bool:
    """Whether the tier has no mode persistent, which else is shown of auto."""
    uses_tier = MODES[compared.choice.mode].uses_tier
    return uses_tier and PERSISTENT.name in compared.refused


def _check_requests(given: PlanningInput, decision: PlacementDecision) -> None:
    """Raises CatalogError for a job that has the option of its tier's request
    already."""
    if decision.placement.job_tier.request is not None:
        from pegasus_bb.planner.rewrite.disk_requests import requests  # few tiers ask

        inputs = Inputs.of(given.workflow.document, given.catalogs)
        requests(inputs, decision.placement)
