"""The list of faults in docs/lifecycle.md names tests that there are."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
_, TABLE = (TESTS.parent / "docs" / "lifecycle.md").read_text().split("\n## Faults\n")
ROWS = [line.split(" | ") for line in TABLE.splitlines() if re.match(r"\| \d", line)]


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


def test_every_fault_has_its_number_and_four_columns() -> None:
    assert [row[0] for row in ROWS] == [f"| {n}" for n in range(1, 50)]
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0].strip("| ")))
def test_it_names_tests_that_there_are(row: list[str]) -> None:
    names = re.findall(r"`([^`]*)`", row[-1])
    assert names
    for name in names:
        file, _, test = name.partition("::")
        assert test.split("::")[-1].startswith("test_")
        assert test in names_in(TESTS / file), name
