"""The site builds without a network, and a link that leads nowhere fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from pegasus_bb.cli import COMMANDS
from tests.support.browser import BROWSER

ROOT = Path(__file__).resolve().parents[2]
MKDOCS = Path(sys.executable).parent / "mkdocs"
# A list that follows its sentence without a blank line is no list.
_RUN_ON = re.compile(r"<p>[^<]*\n(?:-|\*|\d+\.) [^<]{0,60}")
_FOREIGN = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=\"?https?://[^\">]+")


def build(root: Path, to: Path) -> subprocess.CompletedProcess[str]:
    no_network = ["unshare", "-n"] if os.geteuid() == 0 else []
    return subprocess.run(
        [*no_network, str(MKDOCS), "build", "--site-dir", str(to)],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_site_builds_and_takes_nothing_from_elsewhere(tmp_path: Path) -> None:
    built = build(ROOT, tmp_path / "site")
    assert built.returncode == 0, built.stderr
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not _FOREIGN.findall(page.read_text()), page
        run_on = _RUN_ON.search(page.read_text())
        assert run_on is None, f"{page}: {run_on and run_on[0]}"
        assert "Sentinel" not in page.read_text(), page
    for name in COMMANDS:
        text = (tmp_path / f"site/reference/commands/{name}.html").read_text()
        assert f"pegasus-bb {name}" in text
    assert "--bb-mode" in (tmp_path / "site/reference/commands/plan.html").read_text()
    if BROWSER is not None:
        _search_in_files(tmp_path / "site")


def _search_in_files(site: Path) -> None:
    """The search works where the pages are files: no worker starts there."""
    shown = subprocess.run(
        [
            str(BROWSER),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=15000",
            "--dump-dom",
            f"--user-data-dir={site.parent / 'profile'}",
            f"{(site / 'index.html').as_uri()}?q=reservation",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert 'class="md-search-result__item"' in shown.stdout
