"""The pages in a real browser: no error on its console, and no words overlap.

The first picture is on the first screen, and the page does not scroll sideways.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.page import report_page
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.units import format_seconds
from tests.page.comparisons import a_benchmark, a_comparison
from tests.page.test_explained import page_of
from tests.placement.user_files import User, job, sized, use

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")
WIDTHS = (400, 1600)
DARK = "--blink-settings=preferredColorScheme=0"  # light without
# Added by the test: once all charts are drawn, the pairs of texts of one chart that
# share a place, the width of the page, and what was loaded.
LOOK = """<script>
setTimeout(() => {
const overlaps = [];
for (const drawing of document.querySelectorAll('svg')) {
  const texts = [...drawing.querySelectorAll('text')].filter(
    text => text.textContent && text.getAttribute('opacity') !== '0');
  const boxes = texts.map(text => text.getBoundingClientRect());
  const outer = drawing.getBoundingClientRect();
  boxes.forEach((a, i) => {
    if (a.left < outer.left - 1 || a.right > outer.right + 1)
      overlaps.push([texts[i].textContent, 'the edge']);
    boxes.slice(i + 1).forEach((b, j) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 &&
          a.top < b.bottom - 2 && b.top < a.bottom - 2)
        overlaps.push([texts[i].textContent, texts[i + 1 + j].textContent]);
    });
  });
}
parent.postMessage(JSON.stringify({
  overlaps, page: document.documentElement.scrollWidth, window: innerWidth,
  charts: document.querySelectorAll('.chart').length,
  drawn: document.querySelectorAll('.chart svg').length,
  first: document.querySelector('.chart').getBoundingClientRect().top + scrollY,
  height: document.documentElement.scrollHeight,
  cut: [...document.querySelectorAll('body *')].filter(each =>
    each.scrollHeight > each.clientHeight + 1 &&
    ['auto', 'scroll'].includes(getComputedStyle(each).overflowY)).length,
  sideways: [...document.querySelectorAll('.scroll')].filter(each =>
    each.checkVisibility() && each.scrollWidth > each.clientWidth).length,
  headlines: [...document.querySelectorAll('.headline')].map(each => each.textContent),
  paper: getComputedStyle(document.body).backgroundColor,
  keys: [...document.querySelectorAll('a, summary, [tabindex]')].filter(each =>
    each.tabIndex < 0).length,
  loaded: performance.getEntriesByType('resource').length}), '*');
}, 5000);
</script>"""
# A browser's own window is never as narrow as a telephone.
FRAME = """<!doctype html><title>frame</title><pre id="said"></pre>
<iframe src="page.html" style="width: {width}px; height: 900px; border: 0"></iframe>
<script>addEventListener('message', event => {{
  document.querySelector('#said').textContent = event.data; }});</script>"""


def browse(
    folder: Path, text: str, width: int, *more: str
) -> tuple[dict[str, Any], str]:
    """What the page looks like at that width, and what the browser complained of."""
    page = folder / "page.html"
    page.write_text(f"{LOOK}</body>".join(text.rsplit("</body>", 1)))
    frame = folder / "frame.html"
    frame.write_text(FRAME.format(width=width))
    done = subprocess.run(
        [
            *(str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu"),
            *("--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}"),
            *(f"--window-size={width + 100},1000", "--virtual-time-budget=20000"),
            *(*more, "--dump-dom", frame.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, done.stderr
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return json.loads(unescape(said.group(1))), console


@pytest.fixture(scope="module")
def text() -> str:
    whole = a_comparison(benchmark=a_benchmark())
    return report_page({"demo": whole, "crowd": a_comparison(jobs=300)})


def check(found: dict[str, Any], console: str) -> None:
    assert (console, found["overlaps"], found["loaded"]) == ("", [], 0)
    assert found["page"] <= found["window"]
    assert found["drawn"] == found["charts"] > 0
    assert (found["cut"], found["keys"]) == (0, 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_is_drawn_without_errors_and_no_words_overlap(
    tmp_path: Path, text: str, width: int
) -> None:
    found, console = browse(tmp_path, text, width)
    check(found, console)
    assert found["sideways"] == 0  # of the overview tables


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
    assert found["height"] < (6000 if width == min(WIDTHS) else 3000)


def test_one_run_alone_is_drawn(tmp_path: Path) -> None:
    alone = compare([], [run.run for run in a_comparison().bb])
    check(*browse(tmp_path, report_page({"": alone}), 400))


def test_it_is_dark_where_the_screen_is(tmp_path: Path, text: str) -> None:
    papers = [browse(tmp_path, text, 1600, *of)[0]["paper"] for of in ([], [DARK])]
    assert papers == ["rgb(255, 255, 255)", "rgb(21, 24, 28)"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_plan_is_drawn_without_errors_and_no_words_overlap(
    tmp_path: Path, user: User, width: int
) -> None:
    check(*browse(tmp_path, page_of(user), width))


def test_a_plan_of_seven_levels_is_not_cut_at_the_right(tmp_path: Path) -> None:
    jobs = [
        job(f"ID{n}", use(f"f{n}", "input"), use(f"f{n + 1}", "output", **sized(9)))
        for n in range(7)
    ]
    del jobs[0]["uses"][0]
    found, console = browse(tmp_path, page_of(User(tmp_path, jobs=jobs)), 1200)
    check(found, console)
    assert found["sideways"] == 0
