"""The sentence with which text, page and JSON begin."""

from __future__ import annotations

import pytest

from pegasus_bb.core.units import format_measured
from pegasus_bb.model.run import Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.headline import certainty, headline
from pegasus_bb.report.page import report_page
from pegasus_bb.report.render import render_text
from tests.report.made import a_run, a_task


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
def test_it_compares_the_makespans(
    pfs: list[float | None], bb: list[float | None], words: str
) -> None:
    sides = ([a_run(makespan=m) for m in side] for side in (pfs, bb))
    assert words in headline(compare(*sides))


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
    sentence = headline(found)
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
    assert headline(found).endswith(words)
    assert found.break_even is None
    alone = compare([], [stopped])
    assert headline(alone) == f"This is a part of a run: {words}"


def test_runs_of_other_inputs_get_no_verdict() -> None:
    first, other = a_run(footprint=1 << 20), a_run(footprint=3 << 20, makespan=4.0)
    words = "the files of a run have 1.0 MiB, those of another 3.0 MiB"
    for pfs, bb in (([first], [other]), ([first, other], [first])):
        found = compare(pfs, bb)
        assert words in headline(found)
        assert words in found.warnings[0]
    alike = a_run(footprint=(1 << 20) + 999, makespan=4.0)
    assert "faster" in headline(compare([first], [alike]))
    partial = a_run(footprint=9, missing=("a",))
    assert words[:12] not in " ".join(compare([first], [partial]).warnings)


def test_two_workflows_get_no_verdict() -> None:
    sides = ([a_run(label=label, submit_dir=label)] for label in ("cyber", "genome"))
    found = compare(*sides)
    assert "the runs are of different workflows: cyber, genome" in headline(found)
    assert found.break_even is None


def test_a_difference_within_the_scatter_has_no_break_even() -> None:
    pfs, bb = (
        [a_run(a_task(duration=d), makespan=d) for d in side]
        for side in ((60.0, 64.0), (57.0, 61.0))
    )
    found = compare(pfs, bb)
    assert "No difference beyond the scatter" in headline(found)
    assert found.break_even is not None
    first, second, third = found.break_even.sentences
    assert first.startswith(
        "On average the burst buffer's runs were 3.00 \u00b1 2.83 s"
    )
    assert second == "Beyond the scatter is no part of it."
    assert third == "Within the scatter: 3.00 \u00b1 2.83 s less in jobs."


def test_repetitions_have_their_errors_and_what_could_not_be_seen() -> None:
    sides = ([a_run(makespan=m) for m in side] for side in ((1.58, 2.42), (2.36, 2.52)))
    found = compare(*sides)
    assert headline(found) == (
        "No difference beyond the scatter: 2.44 \u00b1 0.08 s on the burst buffer (2 "
        "runs), 2.00 \u00b1 0.42 s on the PFS (2 runs). A difference below 4.9 s "
        "could not have been seen."
    )
    makespan = to_document(found)["workflow"]["makespan"]
    for side in (makespan["pfs"], makespan["bb"]):
        assert format_measured(side["mean"], side["error"]) in headline(found)
    first = render_text(found, width=500).splitlines()[0]
    assert first == headline(found).replace("\u00b1", "+-")
    assert "<span>2.44 \u00b1 0.08 s</span>" in report_page({"": found})


def test_sides_that_scatter_not_at_all_leave_nothing_unseen() -> None:
    assert "below" not in headline(compare([a_run()] * 2, [a_run()] * 2))


def test_it_is_in_the_text_and_in_the_json() -> None:
    found = compare([a_run(makespan=62.0)], [a_run(makespan=44.5, simulated=True)])
    sentence = headline(found)
    assert sentence.startswith("Simulated: the burst buffer was 1.39 times faster")
    assert render_text(found, width=120).splitlines()[0] == sentence
    assert to_document(found)["headline"] == sentence


@pytest.mark.parametrize(
    ("on_pfs", "on_bb", "words"),
    [
        (1, 1, "The error is unknown with one run on each side: "),
        (2, 1, "The error is unknown with one run on the burst buffer: "),
        (2, 2, ""),
        (1, 0, ""),
    ],
)
def test_one_run_of_a_side_has_no_error(on_pfs: int, on_bb: int, words: str) -> None:
    found = compare([a_run()] * on_pfs, [a_run()] * on_bb)
    assert certainty(found).startswith(words)
    text, notes = render_text(found, width=500), to_document(found)["notes"]
    assert bool(words) == (certainty(found) in text.splitlines()[1:2])
    assert bool(words) == (certainty(found) in notes[:1])


def test_simulated_runs_do_not_scatter() -> None:
    assert not certainty(compare([a_run(simulated=True)], [a_run(simulated=True)]))


OTHER_LABEL = a_run(a_task(), label="other", mode="persistent")
OTHER_JOBS = a_run(a_task(), a_task("sort"), mode="persistent")


@pytest.mark.parametrize(
    ("bb", "words"),
    [
        (OTHER_LABEL, "the runs are of different workflows: demo, other."),
        (OTHER_JOBS, "not every run has the same number of jobs: sort."),
    ],
)
def test_another_workflow_is_warned_of_above_all_tables(bb: Run, words: str) -> None:
    found = compare([a_run(a_task())], [bb])
    text = render_text(found, width=500)
    assert text.index(f"WARNING: {words}") < text.index("PFS run 1")
    assert to_document(found)["notes"][1].startswith(words)
    page = report_page({"": found})
    assert page.index(f'<p class="warn">{words}') < page.index('class="chart"')
