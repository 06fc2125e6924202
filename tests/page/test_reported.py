"""The page of a report: what is on it is in the JSON, and each number has its unit."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.page import report_page
from pegasus_bb.page.reported import FIGURES
from pegasus_bb.page.said import said
from pegasus_bb.report import compare, read_run, to_document
from tests.page.balanced import Balanced
from tests.page.comparisons import a_benchmark, a_comparison

UNIT = re.compile(
    r"\d (s|\u00b5s|min \d\d s|h \d\d min|[KMGTP]?i?B(/s)?|times|to 1|[a-z]+)$"
)


@pytest.fixture
def document() -> dict[str, Any]:
    return to_document(a_comparison(), a_benchmark())


def numbers(found: Any) -> Iterator[float]:
    """Every number of a document, however deep."""
    if isinstance(found, dict | list):
        for item in found.values() if isinstance(found, dict) else found:
            yield from numbers(item)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield found


class Shown(HTMLParser):
    """The numbers of a page, as a machine reads them and as a person does."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.data: list[tuple[float, str]] = []
        self.titles: list[str] = []
        self._value: float | None = None
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._value = float(dict(attrs)["value"]) if tag == "data" else None
        self._in_title = tag == "title"

    def handle_data(self, data: str) -> None:
        if self._value is not None:
            self.data.append((self._value, data))
            self._value = None
        elif self._in_title:
            self.titles.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False


def test_every_number_of_a_table_is_in_the_json_and_has_a_unit(
    document: dict[str, Any],
) -> None:
    shown = Shown(report_page({"": document})).data
    assert len(shown) > 150
    assert {value for value, _ in shown} <= set(map(float, numbers(document)))
    assert [text for _, text in shown if not UNIT.search(text)] == []


def test_what_a_mark_says_is_in_the_json(document: dict[str, Any]) -> None:
    units = ("s", "B", "B/s", "to one", "processes")
    words = {said(value, unit) for value in numbers(document) for unit in units}
    titles = Shown(report_page({"": document})).titles[1:]  # the page's own first
    said_there = [
        number
        for title in titles
        for number in re.findall(
            r"(?:: |at |for |time |wait |CPU |moved |, )(\d.*?)(?:, |: |$)", title
        )
    ]
    assert len(said_there) > 50
    assert [number for number in said_there if number not in words] == []


def test_every_figure_is_drawn_and_has_a_table(document: dict[str, Any]) -> None:
    for figure in (make(document) for make in FIGURES):
        assert figure.plots, figure.about
        assert figure.tables
        assert all(table.rows for table in figure.tables)


def test_a_figure_without_data_says_what_would_bring_it(
    recorded: Path,
) -> None:
    run = read_run(recorded / "kickstart-5.1.2-failed.yml")
    bare = to_document(compare([run], [run]))
    left_out = {f.key: f.about for f in (make(bare) for make in FIGURES) if not f.plots}
    assert {"live", "benchmark"} <= set(left_out)
    assert all(about.startswith("Left out: ") for about in left_out.values())
    assert "--bench bench.json" in report_page({"": bare})


def test_the_page_needs_no_network_and_runs_nothing(document: dict[str, Any]) -> None:
    text = report_page({"": document}).lower()
    assert not re.search(r"src|url\(|href=\"[^#]|<script|http", text)


def test_drawings_are_well_formed_and_named(document: dict[str, Any]) -> None:
    text = report_page({"": document})
    Balanced().feed(text)
    pictures = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    for picture in map(ElementTree.fromstring, pictures):
        assert picture.get("aria-label") or picture.get("aria-hidden") == "true"
    for region in re.findall(r'<div class="scroll[^>]*>', text):
        assert 'tabindex="0"' in region  # else no keyboard could scroll it
        assert "aria-label" in region


def test_nothing_is_drawn_outside_its_drawing(document: dict[str, Any]) -> None:
    for plot in (plot for make in FIGURES for plot in make(document).plots):
        for panel in plot.panels:
            assert 0 <= panel.x < panel.x + panel.width <= plot.width
            assert 0 <= panel.y < panel.y + panel.height <= plot.height
            places = [tick.at for tick in panel.across]
            assert places == sorted(set(places))
            assert all(panel.x <= at <= panel.x + panel.width for at in places)


def test_a_name_is_text_whatever_it_holds(document: dict[str, Any]) -> None:
    text = report_page({"<script>&'\"": document})
    assert "<script>" not in text
    Balanced().feed(text)
    for run in document["runs"]["bb"]:
        run["label"] = run["tasks"][1]["node"] = "</title><b>"
    text = report_page({"": document})
    assert "<b>" not in text
    Balanced().feed(text)


def test_a_run_that_was_not_on_the_buffer_says_so(document: dict[str, Any]) -> None:
    document["runs"]["bb"][0]["fallback"] = {"to": "pfs", "because": "no space left"}
    assert "Really on the PFS (fallback): no space left" in report_page({"": document})


def test_several_comparisons_share_a_page(document: dict[str, Any]) -> None:
    text = report_page({"one": document, "other": document})
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]+)"', text)
    assert set(links) <= set(ids)
    assert {"p1-timeline", "p2-timeline"} <= set(links)
