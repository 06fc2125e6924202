"""The run time of each transformation, on both sides."""

from __future__ import annotations

from pegasus_bb.model.stat import Pair
from pegasus_bb.report.page.charts import LINES
from pegasus_bb.report.page.drawings import paired_bars
from pegasus_bb.report.page.figure import Figure
from pegasus_bb.report.page.overview import each_kind
from pegasus_bb.report.report_document import Comparison

_TITLE = "Run time by transformation"
_MISSING = "Left out: no record is of a compute job."
_ABOUT = "Seconds of all jobs of a transformation, added up."
_MOST = 20  # transformations that are drawn


def transformations(found: Comparison) -> Figure:
    """Draw those that took longest; the tables have all."""
    pairs = {row.name: row.cells["run_time"] for row in found.compute}
    longest = sorted(pairs, key=lambda name: -_seconds(pairs[name]))[:_MOST]
    if not longest:
        return Figure("transformations", _TITLE, _MISSING)
    shown = {name: pairs[name] for name in pairs if name in longest}
    label = "Run time of each transformation; the tables have the numbers"
    _, bars = paired_bars("transformation", "run time", "s", shown, label)
    about = _ABOUT + (LINES if found.repeated else "")
    if len(pairs) > _MOST:
        about += f" The {_MOST} that took longest are drawn."
    tables = each_kind(found)
    return Figure("transformations", _TITLE, about, (bars,), tables)


def _seconds(pair: Pair) -> float:
    return max((stat.mean for stat in (pair.pfs, pair.bb) if stat), default=0.0)
