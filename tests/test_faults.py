"""Each fault in docs/faults.md has tests that there are, by tests/faults.txt."""

from __future__ import annotations

import re

import pytest

from tests.support.named_tests import TESTS, is_a_test

TABLE = (TESTS.parent / "docs" / "faults.md").read_text()
ROWS = [line.split(" | ") for line in TABLE.splitlines() if re.match(r"\| \d", line)]
HELD = [line.split() for line in (TESTS / "faults.txt").read_text().splitlines()[1:]]


def test_every_fault_has_its_number_and_three_columns() -> None:
    assert [row[0] for row in ROWS] == [f"| {n}" for n in range(1, len(ROWS) + 1)]
    assert {len(row) for row in ROWS} == {3}


@pytest.mark.parametrize("number", [row[0].strip("| ") for row in ROWS])
def test_every_fault_has_tests_that_exist(number: str) -> None:
    names = [name for held, name in HELD if held == number]
    assert names
    for name in names:
        assert is_a_test(name), name
