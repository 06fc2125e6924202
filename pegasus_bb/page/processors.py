"""User time to system time (Ferreira da Silva et al. 2017, Figs. 14 and 15)."""

from __future__ import annotations

from dataclasses import asdict

from pegasus_bb.page.bars import pair_columns, paired_bars
from pegasus_bb.page.charts import sides
from pegasus_bb.page.dataset import Dataset
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.page.quantity import TO_ONE
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
    """A pair of bars for each transformation."""
    rows = [
        {"name": row.name, "series": side, **asdict(stat)}
        for row in found.compute
        for side, stat in sides(row.cells["user_system"])
    ]
    if not rows:
        return Figure("processors", _TITLE, _MISSING)
    data = Dataset(pair_columns("transformation", "user to system", TO_ONE), rows)
    charts, tables = paired_bars(data, _LABEL), table("User to system", data)
    return Figure("processors", _TITLE, _ABOUT, (charts,), (tables,))
