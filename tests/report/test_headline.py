"""The sentence with which text, page and JSON begin."""

from __future__ import annotations

import pytest

from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.headline import headline
from pegasus_bb.report.render import render_text
from tests.report.made import a_run


@pytest.mark.parametrize(
    ("pfs", "bb", "words"),
    [
        (
            [62.0],
            [44.5],
            "1.39 times faster: 44.5 s on the burst buffer, 1 min 02 s on",
        ),
        ([79.0], [138.0], "1.75 times slower: 2 min 18 s on the burst buffer, 1 min"),
        ([60.0, 64.0], [58.0, 62.0], "No difference beyond the scatter of the rep"),
        ([60.0], [None], "The makespan of a side is unknown"),
        ([0.0], [7.0], "The run took 7 s on the burst buffer, 0 s on the PFS."),
    ],
)
def test_it_compares_the_makespans(
    pfs: list[float | None], bb: list[float | None], words: str
) -> None:
    sides = ([a_run(makespan=m) for m in side] for side in (pfs, bb))
    assert words in headline(compare(*sides))


def test_it_is_in_the_text_and_in_the_json() -> None:
    found = compare([a_run(makespan=62.0)], [a_run(makespan=44.5, simulated=True)])
    sentence = headline(found)
    assert sentence.startswith("Simulated: the burst buffer was 1.39 times faster")
    assert render_text(found, width=120).splitlines()[0] == sentence
    assert to_document(found)["headline"] == sentence
