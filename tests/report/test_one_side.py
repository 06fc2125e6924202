"""A report of one run alone: the same tables, without the comparison."""

from __future__ import annotations

import pytest

from pegasus_bb.model.run import Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.headline import headline
from tests.report.made import a_run, a_task

RUN = a_run(a_task("cat"), a_task("dog"), mode="off", makespan=12.5)


@pytest.mark.parametrize(
    ("pfs", "bb", "sentence"),
    [
        ([RUN], [], "The run on the PFS took 12.5 s."),
        ([], [RUN], "The run on the burst buffer took 12.5 s."),
        ([RUN, RUN], [], "2 runs on the PFS took 12.5 s on average."),
        ([a_run(makespan=None)], [], "How long the run on the PFS took is unknown."),
    ],
)
def test_the_headline_is_how_long_it_took(
    pfs: list[Run], bb: list[Run], sentence: str
) -> None:
    assert headline(compare(pfs, bb)) == sentence


def test_json_has_null_for_the_other_side() -> None:
    document = to_document(compare([], [RUN]))
    assert document["runs"]["pfs"] == []
    assert document["break_even"] is None
    assert document["workflow"]["makespan"]["pfs"] is None
