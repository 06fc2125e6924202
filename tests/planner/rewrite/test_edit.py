"""Changed copies share what did not change."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Document
from pegasus_bb.planner.rewrite.pass_input import site_index, with_values

DATA = {"a": [{"x": 1, "deep": {}}, {"x": 2}], "b": {"c": 3}}


def test_only_the_path_is_copied() -> None:
    document = Document(Path("d.yml"), DATA)
    after = with_values(document, {("a", 1, "x"): 5, ("a", 1, "y"): 6})
    assert after.data == {"a": [{"x": 1, "deep": {}}, {"x": 5, "y": 6}], "b": {"c": 3}}
    assert after.data["a"][0] is DATA["a"][0]
    assert after.data["b"] is DATA["b"]
    assert DATA["a"][1] == {"x": 2}


def test_missing_mappings_are_made_and_nothing_is_nothing() -> None:
    document = Document(Path("d.yml"), DATA)
    assert with_values(document, {("b", "new", "k"): 1}).data["b"] == {
        "c": 3,
        "new": {"k": 1},
    }
    assert with_values(document, {}) is document


def test_a_site_that_is_not_there_is_an_error() -> None:
    with pytest.raises(CatalogError, match="there is no site 'x'"):
        site_index(Document(Path("s.yml"), {"sites": [{"name": "y"}]}), "x")
