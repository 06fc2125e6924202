"""``pegasus-bb explain --html``: one file that needs no other, and no network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pegasus_bb.decide.explanation import Explanation, group_rows
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.prediction_text import remarks
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.report.page.live_bytes_figure import levels
from pegasus_bb.report.page.page_templates import templates
from pegasus_bb.report.page.workflow_drawing import grouped, picture

ROWS = 2_000  # files in the table; all of them are in --json


def explained_page(
    workflow: Workflow,
    graph: Graph,
    placement: Placement,
    explanation: Explanation,
    flow: tuple[Sequence[int], Sequence[int]],
    predicted: Compared | None,
) -> str:
    """The page. ``flow`` are bytes that are born in each level, and that die with it.

    Linear in the workflow. Names in it are text, whatever they hold.
    """
    whole = not explanation.has_only_job_reservations
    return (
        templates()
        .get_template("explain.html.j2")
        .render(
            label=workflow.name,
            jobs=len(workflow.jobs),
            explanation=explanation,
            picture=picture(grouped(workflow, graph, placement)),
            live=levels(_live(*flow), explanation) if whole else None,
            groups=list(group_rows(explanation))[1:],
            files=explanation.files[:ROWS],
            more=max(0, len(explanation.files) - ROWS),
            predicted=predicted,
            remarks=list(remarks(predicted)) if predicted else [],
        )
    )


def _live(born: Sequence[int], dying: Sequence[int]) -> list[int]:
    """Bytes that are there in each level, clean-ups between levels done at once."""
    gone = accumulate(dying, initial=0)
    return [held - dead for held, dead in zip(accumulate(born), gone, strict=False)]
