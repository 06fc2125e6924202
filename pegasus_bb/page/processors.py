"""User time to system time (Ferreira da Silva et al. 2019, Figs. 14 and 15)."""

from __future__ import annotations

from pegasus_bb.page.charts import paired_bars
from pegasus_bb.page.figure import TO_ONE, Figure
from pegasus_bb.report.document import Comparison

_TITLE = "User time to system time"
_MISSING = (
    "Left out: no record has CPU times. Records of Kickstart and of our recorder have "
    "them."
)
_ABOUT = (
    "CPU time in user mode to CPU time in the kernel. The larger it is, the less of "
    "its time a job spends on input and output. Lines are the standard error."
)
_LABEL = "User time to system time of each transformation; the table has the numbers"


def processors(found: Comparison) -> Figure:
    pairs = {row.name: row.cells["user_system"] for row in found.compute}
    pairs = {name: pair for name, pair in pairs.items() if pair.pfs or pair.bb}
    if not pairs:
        return Figure("processors", _TITLE, _MISSING)
    names = ("transformation", "user to system", TO_ONE)
    data, bars = paired_bars(*names, pairs, _LABEL)
    tables = (data.table("User to system"),)
    return Figure("processors", _TITLE, _ABOUT, (bars,), tables)
