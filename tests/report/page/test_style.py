"""The style sheet of all pages: no rule is left of what no page has any more."""

from __future__ import annotations

import re
from pathlib import Path

import pegasus_bb
from pegasus_bb.report.page import charts

TEMPLATES = Path(pegasus_bb.__file__).parent / "report/page/templates"


def sheet() -> str:
    found = re.search(
        "<style>(.*?)</style>", (TEMPLATES / "page.html.j2").read_text(), re.DOTALL
    )
    assert found is not None
    return found[1]


def test_every_class_of_the_sheet_is_one_of_a_template() -> None:
    rules = re.sub(r"\{[^{}]*\}", "{}", sheet())
    styled = set(re.findall(r"\.([a-z][a-z-]*)", rules)) - {"visible"}  # of a tooltip
    pages = "".join(path.read_text() for path in TEMPLATES.glob("*.html.j2"))
    used = {
        name for words in re.findall('class="([^"]*)"', pages) for name in words.split()
    }
    assert styled - used == set()


def test_every_color_of_a_chart_is_one_for_light_and_for_dark() -> None:
    light, dark = (set(re.findall(r"--([a-z0-9-]+):", part)) for part in parts())
    named = {c for c in vars(charts).values() if str(c).startswith("var(")}
    colors = {re.sub(r"var\(--|\)", "", each) for each in (*named, *charts.JOBS)}
    assert len(colors) > 15
    assert colors - light == set()
    assert light == dark


def parts() -> list[str]:
    return re.findall(r":root \{(.*?)\}", sheet(), re.DOTALL)
