"""Every mistake of a user's file has its place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pegasus_bb
from pegasus_bb.core.errors import CatalogError

PACKAGE = Path(pegasus_bb.__file__).parent


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if name in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", node


def test_a_catalog_error_cannot_be_raised_without_a_file() -> None:
    with pytest.raises(TypeError, match="file"):
        CatalogError("is wrong")  # type: ignore[call-arg]
    found = list(calls("CatalogError"))
    assert found
    empty = [at for at, call in found if "file=''" in ast.unparse(call)]
    assert not empty


def test_only_the_built_in_planner_raises_what_it_places_itself() -> None:
    raised = {at.partition(":")[0] for at, _ in calls("UnplacedError")}
    placed = {"decide/decision.py"}  # in the same function
    assert raised >= placed
    assert all(
        file.startswith(("planner/builtin/", "model/dag/writer.py"))
        for file in raised - placed
    )


def test_every_mistake_in_a_workflow_or_a_catalog_has_a_fix() -> None:
    """The last argument of ``error``, or ``would_do``."""
    files = ("workflow", "catalogs", "transformations")
    bare = [
        f"{name}.py:{node.lineno}"
        for name in files
        for node in ast.walk(ast.parse((PACKAGE / f"model/{name}.py").read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "error"
        and not any(keyword.arg == "would_do" for keyword in node.keywords)
        and len(node.args) < 3 + ast.unparse(node.func.value).endswith("document")
    ]
    assert bare == []
