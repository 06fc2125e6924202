"""What stands where on the page of a report, and what is not there."""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.report.compare import compare
from pegasus_bb.report.page.overview import whole_run
from pegasus_bb.report.report_document import Comparison


def test_what_was_not_measured_is_unknown_and_not_none(found: Comparison) -> None:
    silent = [replace(reported.run, gate_wait=None) for reported in found.bb]
    waited = [replace(reported.run, gate_wait=2.0) for reported in found.bb]
    (_, kinds, *_) = whole_run(compare(silent, waited))
    rows = {row[0]: row for row in kinds.rows}
    assert rows["waiting at the gate"][1] == "unknown"
    (_, kinds, *_) = whole_run(
        compare([reported.run for reported in found.pfs], waited)
    )
    rows = {row[0]: row for row in kinds.rows}
    assert rows["waiting at the gate"][1] == "none"
    assert rows["reserving (bb_setup)"][1] == "none"
