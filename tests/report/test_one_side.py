"""A report of one run alone: the same tables, without the comparison."""

from __future__ import annotations

import re

import pytest

from pegasus_bb.model.run import Run
from pegasus_bb.model.stat import Pair
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.headline import headline
from pegasus_bb.report.render import render_text
from pegasus_bb.report.run_folder import read_run
from tests.report.made import LOGGED, a_run, a_task

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


def test_text_has_no_column_and_no_word_of_the_other_side() -> None:
    text = render_text(compare([RUN], []))
    assert not re.search(r"\bBB\b|ratio|burst buffer", text)
    assert "makespan" in text
    assert {"cat", "dog", "all"} <= set(text.split())


def test_the_tables_of_logs_have_one_side() -> None:
    text = render_text(compare([], [read_run(LOGGED / "bb")]))
    assert "ratio" not in text
    assert {"(POSIX)", "fx.sgt"} <= set(text.split())
    assert not re.search(r"\bPFS\b", text)


def test_json_has_null_for_the_other_side() -> None:
    document = to_document(compare([], [RUN]))
    assert document["runs"]["pfs"] == []
    assert document["break_even"] is None
    assert document["workflow"]["makespan"]["pfs"] is None


def test_nothing_is_noted_on_the_side_that_is_not_there() -> None:
    found = compare([], [RUN])
    assert [
        note for note in found.warnings if "swapped" in note or "PFS run" in note
    ] == []
    assert found.clock["compute"] == Pair(None, found.clock["compute"].bb)
