"""Words that stopped readers are gone; those of our own are in the glossary."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
READ = {
    "pegasus_bb": ("*.py", "*.j2"),
    "docs": ("*.md",),
    "examples": ("*.py", "*.md"),
    "site-catalogs": ("*",),
    "planner-hooks": ("*",),
    "pre-scripts": ("*",),
}
STOPPED = (
    "Behind what is there",
    "say it again",
    "without anything to lose",
    "nobody",
    "asked for room",
    "not brought to an end",
    "a job of the user's",
    "KiB x",
    "iB-hours",
    "; say: ",
    "each second once, for the first of these",
)
OURS = ("gate", "seal", "ledger", "landing", "job reservation", "launcher", "manifest")


@cache
def texts() -> dict[Path, str]:
    found = {ROOT / "README.md", ROOT / "CONTRIBUTING.md"}
    for folder, names in READ.items():
        found |= {p for name in names for p in (ROOT / folder).rglob(name)}
    return {p: p.read_text(errors="replace") for p in sorted(found) if p.is_file()}


@pytest.mark.parametrize("phrase", STOPPED)
def test_no_text_has_it(phrase: str) -> None:
    words = r"\s+".join(map(re.escape, phrase.split(" ")))
    pattern = re.compile(words, re.IGNORECASE)
    assert [str(path) for path, text in texts().items() if pattern.search(text)] == []


@pytest.mark.parametrize("word", OURS)
def test_the_glossary_explains_it(word: str) -> None:
    assert f"\n| {word} | " in (ROOT / "docs/glossary.md").read_text()
