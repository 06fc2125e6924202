"""What stands where on the page of a report, and what is not there."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pegasus_bb.model.run import Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.page import report_page
from pegasus_bb.report.page.figure import RATIO, Number
from pegasus_bb.report.page.headline_figure import bought
from pegasus_bb.report.page.overview import whole_run
from pegasus_bb.report.page.reported import FIGURES
from pegasus_bb.report.page.transformation_figure import transformations
from pegasus_bb.report.report_document import Comparison
from pegasus_bb.report.run_folder import read_run
from tests.report.made import RECORDED, a_run, a_task
from tests.report.page.comparisons import a_benchmark, a_comparison
from tests.support.page_html import Balanced, without_scripts


@pytest.fixture
def found() -> Comparison:
    return a_comparison(benchmark=a_benchmark())


def order_of(text: str, *parts: str) -> list[int]:
    return [text.index(each) for each in parts]


def test_first_come_a_sentence_a_figure_and_the_break_even(found: Comparison) -> None:
    text = report_page({"": found})
    places = order_of(
        *(text, "</h1>", 'class="chart"', "<details>", 'class="break-even"'),
        *(">Timeline</h2>", ">Run time by transformation</h2>", ">About these runs<"),
    )
    assert places == sorted(places)


def test_figures_without_data_are_one_line_at_the_end() -> None:
    run = read_run(RECORDED / "kickstart-5.1.2-failed.yml")
    text = without_scripts(report_page({"": compare([run], [run])}))
    assert ">Bandwidth by block size and processes</h2>" not in text
    summary = re.search(r"<summary>No data for: (.*)</summary>", text)
    assert summary is not None
    assert "bandwidth by block size and processes" in summary[1]
    assert text.index(">About these runs<") < summary.start()


def test_one_run_has_no_column_of_errors_and_no_empty_one(found: Comparison) -> None:
    once = compare([found.pfs[0].run], [found.bb[0].run])
    text = without_scripts(report_page({"": once}))
    assert "standard error</th>" not in text
    assert ">difference<" not in text
    assert text.count("with one run on each side") == 1  # below the headline
    heads = ("standard error", "difference")
    (table, *_) = transformations(found).tables
    assert set(heads) < set(table.head)


def test_a_verdict_needs_no_ratio() -> None:
    def run(read: int, system: float) -> Run:
        return a_run(a_task(rbytes=read, stime=system))

    sides = ([run(read, s), run(read, s)] for read, s in ((7 << 20, 0.1), (0, 0.2)))
    (table, *_) = transformations(compare(*sides)).tables
    rows = {row[0]: row[-2:] for row in table.rows}
    assert rows["bytes from block devices"] == ("", "beyond error")
    assert rows["user to system time"] == (Number(2.0, RATIO), "beyond error")


@pytest.mark.parametrize(("mode", "told"), [("off", True), ("persistent", False)])
def test_what_no_run_notes_in_mode_off_is_said_below_the_table(
    mode: str, told: bool
) -> None:
    found = compare([a_run(a_task(), mode=mode)], [a_run(a_task(), safe=3.0)])
    (*_, staging) = whole_run(found)
    assert (staging.note[:20] == "Unknown on the PFS: ") is told
    assert ("when a result is durable." in report_page({"": found})) is told
    (*_, alone) = whole_run(compare([], [a_run(a_task(), safe=3.0)]))
    assert not alone.note


def test_the_words_of_a_verdict_are_explained(found: Comparison) -> None:
    one, two = (
        without_scripts(
            report_page(
                {"": compare(*([side[0].run] * n for side in (found.pfs, found.bb)))}
            )
        )
        for n in (1, 2)
    )
    assert "<dt>within error</dt>" not in one
    assert "do in 19 of 20 comparisons (Welch's t-test).</dd>" in two


def test_what_a_side_has_not_is_none_and_has_no_ratio(found: Comparison) -> None:
    text = without_scripts(report_page({"": found}))
    assert "0.00 times" not in text
    for figure in (make(found) for make in FIGURES):
        for table in figure.tables:
            if table.caption == "auxiliary jobs: bb_setup":
                pfs = {row[1] for row in table.rows}
                assert pfs == {"none"}


@pytest.mark.parametrize(
    ("pfs", "bb", "words"),
    [
        (1, 1, "Where each second of the makespan went."),
        (2, 2, "went; means of 2 runs. Lines are the standard error of the makespan."),
        (1, 2, "went; means of 1 run and 2 runs. Lines are"),
    ],
)
def test_the_first_figure_says_what_it_is(
    found: Comparison, pfs: int, bb: int, words: str
) -> None:
    several = compare([found.pfs[0].run] * pfs, [found.bb[0].run] * bb)
    figure = bought(several)
    assert words in figure.charts[0].title
    labels = {label for _, label in figure.legend}
    assert {"reservation (set up, wait, give back)", "everything else"} < labels


def test_one_side_alone_has_a_page(found: Comparison) -> None:
    alone = compare([], [reported.run for reported in found.bb])
    text = without_scripts(report_page({"": alone}))
    Balanced().feed(text)
    assert "runs on the burst buffer took <span>43.8 s</span> on average" in text
    assert not re.search(
        r"PFS/BB|PFS run|compared|break-even", text.partition("<body>")[2]
    )
    assert ">Timeline</h2>" in text


def test_an_overview_comes_before_several_workflows_or_repetitions(
    found: Comparison,
) -> None:
    places = order_of(report_page({"": found}), ">Each run", 'class="chart"')
    assert places == sorted(places)
    text = without_scripts(report_page({"one": found, "other": found}))
    places = order_of(text, "Makespan of each workflow", 'class="headline"')
    assert places == sorted(places)


def test_a_warning_stands_under_the_headline(found: Comparison) -> None:
    text = report_page({"": found}, {"": ["<others> were at work"]})
    assert '<p class="warn">&lt;others&gt; were at work</p>' in text
    places = order_of(text, "</h1>", "were at work", 'class="chart"')
    assert places == sorted(places)


def test_what_the_sides_were_stands_below_the_break_even(found: Comparison) -> None:
    text = report_page({"": found}, None, {"": ["PFS: <folder>"]})
    assert '<p class="quiet">PFS: &lt;folder&gt;</p>' in text
    places = order_of(text, 'class="break-even"', "PFS: &lt;", ">Timeline</h2>")
    assert places == sorted(places)


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
