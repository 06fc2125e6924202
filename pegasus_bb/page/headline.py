"""The first screen of a report: what the burst buffer bought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegasus_bb.page.bars import pair_columns, paired_bars
from pegasus_bb.page.charts import SIDES, Chart
from pegasus_bb.page.dataset import Dataset
from pegasus_bb.page.quantity import RATIO, format_quantity

_TIMES = ("makespan", "span")  # the second is known without jobstate.log


def headline(document: Mapping[str, Any]) -> str:
    """The makespans of both sides in one sentence."""
    pair = _makespan(document)
    if not (pair["pfs"] and pair["bb"]):
        return "The makespan of a side is unknown, so the sides cannot be compared."
    pfs, bb = (format_quantity(pair[side]["mean"], "s") for side in SIDES)
    both = f"{bb} on the burst buffer, {pfs} on the PFS"
    if pair["beyond_error"] is False:
        return f"No difference beyond the scatter of the repetitions: {both}."
    if not pair["ratio"]:
        return f"The run took {both}."
    ratio = pair["ratio"]
    times = format_quantity(max(ratio, 1 / ratio), RATIO)
    return f"The burst buffer was {times} {_word(ratio)}: {both}."


def _word(ratio: float) -> str:
    return "faster" if ratio >= 1 else "slower"


def makespans(documents: Mapping[str, Mapping[str, Any]]) -> Chart | None:
    """A pair of bars for each comparison; None if no makespan is known."""
    pairs = {name or "makespan": _makespan(each) for name, each in documents.items()}
    rows = [
        {"name": name, "series": words, **pair[side]}
        for name, pair in pairs.items()
        for side, words in SIDES.items()
        if pair[side]
    ]
    data = Dataset(pair_columns("workflow", "makespan", "s"), rows)
    label = "Makespan of each workflow on the PFS and on the burst buffer"
    return paired_bars(data, label) if rows else None


def _makespan(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The makespans if both sides have one, else the times from first to last task."""
    pairs = [document["workflow"][key] for key in _TIMES]
    known = [pair for pair in pairs if pair["pfs"] and pair["bb"]]
    found: Mapping[str, Any] = (known or pairs)[0]
    return found
