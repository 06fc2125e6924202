"""The pages in a real browser: no error on its console, and no words overlap.

The first picture is on the first screen, and the page does not scroll sideways.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_lab.commands.campaign_page import campaigns_page

from lab.tests.test_campaigns import results
from pegasus_bb.core.units import format_seconds
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.page.reported import report_page
from tests.report.page.comparisons import a_benchmark, a_comparison
from tests.support.browser import BROWSER, browse, check

pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
WIDTHS = (400, pytest.param(1600, marks=pytest.mark.sweep))


@pytest.fixture(scope="module")
def text() -> str:
    whole = a_comparison(benchmark=a_benchmark())
    return report_page({"demo": whole, "crowd": a_comparison(jobs=300)})


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_is_drawn_without_errors_and_no_words_overlap(
    tmp_path: Path, text: str, width: int
) -> None:
    found, console = browse(tmp_path, text, width)
    check(found, console)
    assert found["sideways"] == 0  # of the overview tables
    assert found["open"] == []  # else a verdict is beyond the right edge
    assert found["printed"] < 720  # pixels: the words of a chart are not scaled down


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_has_the_numbers_of_the_json_and_a_picture(
    tmp_path: Path, width: int
) -> None:
    several = a_comparison()
    whole = compare([several.pfs[0].run], [several.bb[0].run])
    page = report_page({"": whole})
    found, console = browse(tmp_path, page, width)
    check(found, console)
    document = to_document(whole)
    assert found["headlines"] == [document["headline"]]
    for side in document["workflow"]["makespan"].values():
        if isinstance(side, dict):
            assert format_seconds(side["mean"]) in found["headlines"][0]
    assert found["first"] < 400
    assert found["height"] < (6000 if width == 400 else 3100)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_study_of_a_machine_is_drawn_without_errors_and_no_words_overlap(
    tmp_path: Path, width: int
) -> None:
    page = campaigns_page("mix.yml", [*results("placement"), *results("parity")])
    check(*browse(tmp_path, page, width))
