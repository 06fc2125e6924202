"""Each fault in docs/faults.md has tests that there are, by tests/faults.txt."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
TABLE = (TESTS.parent / "docs" / "faults.md").read_text()
ROWS = [line.split(" | ") for line in TABLE.splitlines() if re.match(r"\| \d", line)]
HELD = [line.split() for line in (TESTS / "faults.txt").read_text().splitlines()[1:]]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Every test of a file, by its name or as Class::name."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            own = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found.update(f"{node.name}::{each.name}" for each in own)
    return frozenset(found)


def test_every_fault_has_its_number_and_three_columns() -> None:
    assert [row[0] for row in ROWS] == [f"| {n}" for n in range(1, len(ROWS) + 1)]
    assert {len(row) for row in ROWS} == {3}


@pytest.mark.parametrize("number", [row[0].strip("| ") for row in ROWS])
def test_it_is_held_by_tests_that_there_are(number: str) -> None:
    names = [name for held, name in HELD if held == number]
    assert names
    for name in names:
        file, _, test = name.partition("::")
        assert test.split("::")[-1].startswith("test_")
        assert test in names_in(TESTS / file), name
