"""Each promise of docs/promises.md names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.named_tests import is_a_test

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
ROWS = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
PROMISES = [row for row in ROWS if not re.match(r"\| (promise|---)", row)]


@pytest.mark.parametrize("row", PROMISES, ids=lambda row: row.split(" | ")[0][2:40])
def test_a_promise_names_a_test_that_exists(row: str) -> None:
    _, named = row.strip("| ").rsplit(" | ", 1)
    assert is_a_test(named.strip("`")), named


def test_each_page_of_promises_has_a_part() -> None:
    for page in ("README", "lifecycle.md", "stager.md", "faults.md"):
        assert page in PAGE.read_text()
