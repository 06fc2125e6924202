"""The sentence with which text, page and JSON begin."""

from __future__ import annotations

import pytest

from pegasus_bb.report.compare import compare
from pegasus_bb.report.render import render_text
from tests.report.sample_runs import a_run


@pytest.mark.parametrize(
    ("pfs", "bb", "words"),
    [
        (
            [62.0],
            [44.5],
            "1.39 times faster in one run on each side: 44.5 s on the burst buffer, 1 ",
        ),
        (
            [79.0],
            [138.0],
            "1.75 times slower in one run on each side: 2 min 18 s on the burst",
        ),
        ([60.0, 64.0], [58.0, 62.0], "No difference beyond the scatter: 1 min 00 s"),
        ([60.0], [60.1], "The sides took equally long, within 0.5 %: 1 min 00 s"),
        ([60.0], [None], "The makespan of a side is unknown"),
        ([0.0], [7.0], "The run took 7.00 s on the burst buffer, 0 s on the PFS."),
    ],
)
def test_the_headline_compares_the_makespans(
    pfs: list[float | None], bb: list[float | None], words: str
) -> None:
    sides = ([a_run(makespan=m) for m in side] for side in (pfs, bb))
    assert words in compare(*sides).headline


@pytest.mark.parametrize(
    ("pfs", "bb", "words"),
    [
        ("persistent", "off", "the sides are swapped"),
        ("persistent", "persistent", "PFS run 1 was given as PFS, yet ran in mode"),
        ("off", "off", "BB run 1 was given as BB, yet ran without one"),
    ],
)
def test_sides_that_are_not_what_they_are_called_get_no_verdict(
    pfs: str, bb: str, words: str
) -> None:
    found = compare([a_run(mode=pfs, makespan=9.0)], [a_run(mode=bb, makespan=4.0)])
    sentence = found.headline
    assert sentence.startswith("This says nothing of a burst buffer: ")
    assert words in sentence
    assert found.break_even is None
    assert "faster" not in render_text(found)


def test_a_run_that_was_stopped_gets_no_verdict() -> None:
    stopped = a_run(makespan=4.0, missing=("a", "b"), submit_dir="submit/bb")
    found = compare([a_run(makespan=9.0)], [stopped])
    words = (
        "BB run 1 is not complete: 2 nodes left no record (a, b). How to go on: "
        "pegasus-bb status submit/bb"
    )
    assert found.headline.endswith(words)
    assert found.break_even is None
    alone = compare([], [stopped])
    assert alone.headline == f"This is a part of a run: {words}"


def test_runs_of_other_inputs_get_no_verdict() -> None:
    first = a_run(footprint=1 << 20)
    other = a_run(footprint=3 << 20, makespan=4.0)
    words = "the files of a run have 1.0 MiB, those of another 3.0 MiB"
    for pfs, bb in (([first], [other]), ([first, other], [first])):
        found = compare(pfs, bb)
        assert words in found.headline
        assert words in found.warnings[0]
    alike = a_run(footprint=(1 << 20) + 999, makespan=4.0)
    assert "faster" in compare([first], [alike]).headline
    partial = a_run(footprint=9, missing=("a",))
    assert words[:12] not in " ".join(compare([first], [partial]).warnings)
