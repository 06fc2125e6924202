"""The first screen of a report: what the burst buffer bought."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from pegasus_bb.model.stat import Pair
from pegasus_bb.page.bars import pair_columns, paired_bars
from pegasus_bb.page.charts import Chart, sides
from pegasus_bb.page.dataset import Dataset
from pegasus_bb.page.quantity import RATIO, format_quantity
from pegasus_bb.report.document import Comparison

_TIMES = ("makespan", "span")  # the second is known without jobstate.log


def headline(found: Comparison) -> str:
    """The makespans of both sides in one sentence."""
    pair = _makespan(found)
    if not (pair.pfs and pair.bb):
        return "The makespan of a side is unknown, so the sides cannot be compared."
    pfs, bb = (format_quantity(stat.mean, "s") for stat in (pair.pfs, pair.bb))
    both = f"{bb} on the burst buffer, {pfs} on the PFS"
    if pair.beyond_error is False:
        return f"No difference beyond the scatter of the repetitions: {both}."
    ratio = pair.ratio
    if not ratio:
        return f"The run took {both}."
    times = format_quantity(max(ratio, 1 / ratio), RATIO)
    return f"The burst buffer was {times} {_word(ratio)}: {both}."


def _word(ratio: float) -> str:
    return "faster" if ratio >= 1 else "slower"


def makespans(comparisons: Mapping[str, Comparison]) -> Chart | None:
    """A pair of bars for each comparison; None if no makespan is known."""
    rows = [
        {"name": name or "makespan", "series": side, **asdict(stat)}
        for name, found in comparisons.items()
        for side, stat in sides(_makespan(found))
    ]
    data = Dataset(pair_columns("workflow", "makespan", "s"), rows)
    label = "Makespan of each workflow on the PFS and on the burst buffer"
    return paired_bars(data, label) if rows else None


def _makespan(found: Comparison) -> Pair:
    """The makespans if both sides have one, else the times from first to last task."""
    pairs = [found.workflow[key] for key in _TIMES]
    known = [pair for pair in pairs if pair.pfs and pair.bb]
    return (known or pairs)[0]
