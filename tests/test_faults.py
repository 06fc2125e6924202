"""Each fault in docs/faults.md has tests that there are, by tests/faults.txt."""

from __future__ import annotations

import re

from tests.support.named_tests import TESTS, is_a_test

TABLE = (TESTS.parent / "docs" / "faults.md").read_text()
ROWS = [line.split(" | ") for line in TABLE.splitlines() if re.match(r"\| \d", line)]
HELD = [line.split() for line in (TESTS / "faults.txt").read_text().splitlines()[1:]]


def test_every_fault_has_its_number_and_three_columns() -> None:
    assert [row[0] for row in ROWS] == [f"| {n}" for n in range(1, len(ROWS) + 1)]
    assert {len(row) for row in ROWS} == {3}


def test_every_fault_has_tests_that_exist() -> None:
    numbers = {row[0].strip("| ") for row in ROWS}
    assert {number for number, _ in HELD} == numbers
    gone = [name for _, name in HELD if not is_a_test(name)]
    assert not gone, "let tests/faults.txt name tests that exist"
