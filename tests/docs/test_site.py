"""The site builds without a network, and a link that leads nowhere fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MKDOCS = Path(sys.executable).parent / "mkdocs"
NEEDED = ("docs", "examples", "planner-hooks", "pre-scripts", "site-catalogs")
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
    commands = (tmp_path / "site/reference/commands.html").read_text()
    assert "--bb-mode" in commands


@pytest.mark.parametrize("link", ["[no](nowhere.md)", "[no](tiers.md#nowhere)"])
def test_a_link_that_leads_nowhere_fails(tmp_path: Path, link: str) -> None:
    for name in NEEDED:
        ignored = shutil.ignore_patterns("run", "data", "__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("mkdocs.yml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    page = tmp_path / "docs" / "glossary.md"
    page.write_text(f"{page.read_text()}\n{link}\n")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode != 0
    assert "nowhere" in built.stderr
