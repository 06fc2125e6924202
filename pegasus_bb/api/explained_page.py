"""``pegasus-bb explain --html``: one file that needs no other, and no network."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from pegasus_bb.api.explained_text import group_rows
from pegasus_bb.api.explanation import Explanation
from pegasus_bb.api.workflow_drawing import grouped, picture
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.liveness import live_in_levels
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.prediction_text import remarks
from pegasus_bb.model.placement import Placement
from pegasus_bb.report.page.charts import ALERT, byte_axis, chart, draw
from pegasus_bb.report.page.figure import (
    Chart,
    Column,
    Dataset,
    Figure,
    format_quantity,
)
from pegasus_bb.report.page.page_templates import templates
from pegasus_bb.report.page.tier_figures import live_legend

ROWS = 2_000  # files in the table; all of them are in --json
_LEVELS = (
    Column("level", "level of the workflow"),
    Column("size", "live bytes", "B"),
    Column("reserved", "reserved", "B"),
)


def explained_page(
    given: PlanningInput,
    placement: Placement,
    explanation: Explanation,
    predicted: Compared | None,
) -> str:
    """Return the page. It escapes every name, and is linear in the workflow."""
    workflow = given.workflow
    whole = not explanation.has_only_job_reservations
    live = live_in_levels(given, placement)
    return (
        templates("pegasus_bb.api")
        .get_template("explain.html.j2")
        .render(
            label=workflow.name,
            jobs=len(workflow.jobs),
            explanation=explanation,
            picture=picture(grouped(workflow, given.graph, placement)),
            live=level_figure(live, explanation) if whole else None,
            groups=list(group_rows(explanation))[1:],
            files=explanation.files[:ROWS],
            more=max(0, len(explanation.files) - ROWS),
            predicted=predicted,
            remarks=list(remarks(predicted)) if predicted else [],
        )
    )


def level_figure(sizes: Sequence[int], explanation: Explanation) -> Figure:
    """Draw the bytes of each level; clean-ups between levels are done."""
    capacity = explanation.capacity
    rows = [
        {"level": str(level), "size": size, "reserved": capacity}
        for level, size in enumerate(sizes, start=1)
    ]
    data = Dataset(_LEVELS if capacity else _LEVELS[:2], rows)
    title = f"Live bytes on tier {explanation.tier}"
    best = format_quantity(explanation.planned_order, "B")
    worst = format_quantity(explanation.any_order, "B")
    about = (
        f"At most {best} if jobs run level by level and each clean-up as soon as it "
        f"can; at most {worst} in any order of the jobs."
    )
    charts = (_bars(data, capacity),)
    legend = live_legend([capacity])
    tables = (data.table(title),)
    return Figure("levels", title, about, charts, tables, legend=legend)


def _bars(data: Dataset, capacity: int | None) -> Chart:
    base = draw(data)
    title = ""
    level = alt.X("level:O", title="level of the workflow", sort=None)
    highest = max([capacity or 0, *(row["size"] for row in data.rows)])
    layers = [base.mark_bar().encode(x=level, y=byte_axis(alt.Y, "size", highest))]
    if capacity:
        layers.append(base.mark_rule(stroke=ALERT, size=2).encode(y="max(reserved):Q"))
        title = f"reserved: {format_quantity(capacity, 'B')}"
    label = "Live bytes in each level of the workflow; the table has the numbers"
    return chart(alt.layer(*layers), label, 180, data=data, title=title)
