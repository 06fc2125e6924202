"""The reference pages have all that the program has, and nothing that it has not."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.docs.conftest import in_words
from tests.support.forked import pegasus_bb

DOCS = Path(__file__).resolve().parents[2] / "docs"

OPTIONS = [
    "--bb-mode",
    "persistent",
    "--bb-capacity",
    "16MiB",
    "--sites",
    "cluster",
    "--output-sites",
    "local",
]


def first_cells(page: str, pattern: str) -> list[str]:
    return re.findall(rf"^\| {pattern} \|", (DOCS / page).read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "word",
    ("gate", "seal", "ledger", "landing", "job reservation", "launcher", "manifest"),
)
def test_the_glossary_explains_a_word_of_ours(word: str) -> None:
    assert word in first_cells("glossary.md", "([^|]+)")


def keys_of(command: str) -> set[str]:
    """Those that the page of JSON output lists under ``command``."""
    page = (DOCS / "reference/json.md").read_text()
    section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)[2:]
    return {key.strip() for cell in cells for key in cell.split(",")}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("explain", [*OPTIONS, "workflow.yml"]),
        ("check", [*OPTIONS, "workflow.yml"]),
        ("status", ["submit/first"]),
        ("ls", ["--all"]),
    ],
)
def test_the_keys_of_a_command(words: Path, command: str, arguments: list[str]) -> None:
    home = {"HOME": str(words.parent / "home"), "XDG_STATE_HOME": ""}
    environ = {**os.environ, **home, **in_words(words)}
    done = pegasus_bb([command, "--json", *arguments], words, environ)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = document if isinstance(document, dict) else document[0]
    optional = (
        {"job_reservations", "selection", "job_tier"} if command == "explain" else set()
    )
    assert set(found) - optional == keys_of(command)
