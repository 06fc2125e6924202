"""A page in a real browser: what it looks like, and what the browser complains of."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
# Added by the test: once all charts are drawn, the pairs of texts of one chart that
# share a place, the width of the page, what was loaded, and the widest chart on paper.
LOOK = """<script>
setTimeout(async () => {
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
const look = {
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
  open: (() => {
    for (const each of document.querySelectorAll('details')) each.open = true;
    return [...document.querySelectorAll('.scroll')].filter(each =>
      each.querySelector('thead')?.textContent.includes('difference') &&
      each.scrollWidth > each.clientWidth).map(each => each.ariaLabel);
  })(),
  headlines: [...document.querySelectorAll('.headline')].map(each => each.textContent),
  paper: getComputedStyle(document.body).backgroundColor,
  keys: [...document.querySelectorAll('a, summary, [tabindex]')].filter(each =>
    each.tabIndex < 0).length,
  loaded: performance.getEntriesByType('resource').length};
dispatchEvent(new Event('beforeprint'));
await new Promise(resolve => setTimeout(resolve, 1000));
look.printed = Math.max(...[...document.querySelectorAll('.chart svg')].map(
  each => each.width.baseVal.value));
parent.postMessage(JSON.stringify(look), '*');
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
            str(BROWSER),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width + 100},1000",
            "--virtual-time-budget=20000",
            *more,
            "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    said = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert said, done.stderr
    console = "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
    return json.loads(unescape(said.group(1))), console


def check(found: dict[str, Any], console: str) -> None:
    assert (console, found["overlaps"], found["loaded"]) == ("", [], 0)
    assert found["page"] <= found["window"]
    assert found["drawn"] == found["charts"] > 0
    assert (found["cut"], found["keys"]) == (0, 0)
