"""The page of a report: its numbers are in the JSON, and each has a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from pegasus_bb.report.columns import RATIO, TO_ONE
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.page.figure import FINE, format_quantity
from pegasus_bb.report.page.reported import FIGURES, report_page
from pegasus_bb.report.report_document import Comparison
from tests.support.page_html import Balanced, without_scripts

UNIT = re.compile(
    r"\d (s|\u00b5s|min \d\d s|h \d\d min|[KMGTP]?i?B(/s)?|times|to 1|[a-z]+)$"
)


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
        self._value: float | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._value = float(dict(attrs)["value"]) if tag == "data" else None

    def handle_data(self, data: str) -> None:
        if self._value is not None:
            self.data.append((self._value, data))
            self._value = None


def test_every_number_of_a_table_is_in_the_json_and_has_a_unit(
    found: Comparison,
) -> None:
    shown = Shown(report_page({"": found})).data
    assert len(shown) > 150
    assert {value for value, _ in shown} <= set(map(float, numbers(to_document(found))))
    assert [text for _, text in shown if not UNIT.search(text)] == []


def test_what_a_tooltip_says_is_in_the_json(found: Comparison) -> None:
    units = ("s", "B", "B/s", "to one", "processes", "ratio", "tasks")
    known = [*numbers(to_document(found)), None]
    words = {format_quantity(value, unit) for value in known for unit in units}
    charts = [chart for make in FIGURES for chart in make(found).charts]
    rows = [row for c in charts for rows in c.spec["datasets"].values() for row in rows]
    said = {row[f"{key}_text"] for row in rows for key in row if _is_drawn(row, key)}
    assert len(said) > 50
    assert said - words == set()


def _is_drawn(row: dict[str, Any], key: str) -> bool:
    return f"{key}_text" in row and isinstance(row[key], float)


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "s", "unknown"),
        (0.0123, "s", "0.0123 s"),
        (0.0, "s", "0 s"),
        (185.4, "s", "3 min 05 s"),
        (2048.0, "B", "2.0 KiB"),
        (3 << 20, "B/s", "3.0 MiB/s"),
        (1.386, RATIO, "1.39 times"),
        (0.99924, FINE, "0.9992 times"),
        (2.25, TO_ONE, "2.25 to 1"),
        (1.0, "processes", "1 process"),
        (6.28e-16, TO_ONE, "0 to 1"),
    ],
)
def test_a_number_has_its_unit(value: float | None, unit: str, words: str) -> None:
    assert format_quantity(value, unit) == words


def test_the_page_may_not_use_the_network(found: Comparison) -> None:
    text = without_scripts(report_page({"": found})).lower()
    assert "default-src 'none'" in text
    assert not re.search(r"src=|url\(|href=\"[^#]|http:", text)


def test_a_name_is_text_whatever_it_holds(found: Comparison) -> None:
    text = report_page({"</script><b>&'\"": found})
    assert text.count("</script>") == text.count("<script")
    assert "<b>" not in without_scripts(text)
    first, *others = found.bb
    tasks = [task._replace(node="</title><b>") for task in first.run.tasks]
    run = replace(first.run, label="</title><b>", tasks=tuple(tasks))
    found = replace(found, bb=(replace(first, run=run), *others))
    text = report_page({"": found})
    assert text.count("</script>") == text.count("<script")
    assert "<b>" not in without_scripts(text)
    Balanced().feed(without_scripts(text))
