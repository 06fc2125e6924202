"""Whether a test that a list or a page names exists."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]


def is_a_test(name: str) -> bool:
    """True if ``file.py::test`` or ``file.py::Class::test`` below tests/ exists."""
    file, _, test = name.partition("::")
    return test.split("::")[-1].startswith("test_") and test in _names_in(file)


@cache
def _names_in(file: str) -> frozenset[str]:
    found = set()
    for node in ast.parse((TESTS / file).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            own = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found.update(f"{node.name}::{each.name}" for each in own)
    return frozenset(found)
