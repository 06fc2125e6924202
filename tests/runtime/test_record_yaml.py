"""Whatever a task says, every YAML reader reads it back."""

from __future__ import annotations

import os
from typing import Any

import pytest
import ryaml
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.records.yaml import Data, as_text, record

READERS = {
    "PyYAML": lambda text: yaml.load(text, yaml.SafeLoader),
    "PyYAML in C": lambda text: yaml.load(text, yaml.CSafeLoader),
    "ryaml": ryaml.loads,
}
ANY = st.text(st.characters(exclude_categories=()))  # lone surrogates included
BYTES = st.binary(max_size=200)
# What blocks are made of, and what breaks them.
LINES = st.lists(
    st.sampled_from(
        ["", " ", "a", "  b", "\t", "- c: d", "# e", "'", '"', "...", "---", "\r", "%"]
    )
).map("\n".join)


def every_reader(data: dict[Any, Any]) -> Any:
    text = record(data).decode()
    found = {name: read(text)[0] for name, read in READERS.items()}
    first = found["PyYAML"]
    assert all(answer == first for answer in found.values()), text
    return first


def readable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return as_text(text.encode("utf-8", "surrogateescape"))
    return text


@given(st.lists(ANY.filter(lambda text: _is_from_the_system(text))))
def test_any_arguments_come_back(argv: list[str]) -> None:
    found = every_reader({"argument_vector": argv, "after": 1})
    assert (found["argument_vector"] or []) == [readable(text) for text in argv]
    assert found["after"] == 1


def _is_from_the_system(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


@given(st.one_of(BYTES.map(as_text), LINES, st.text()))
def test_any_output_comes_back(text: str) -> None:
    found = every_reader({"files": {"stdout": {"data": Data(text), "b": 1}}})
    assert found["files"]["stdout"] == {"data": text, "b": 1}


@pytest.mark.parametrize("hidden", ["\x1b[31mred", "\u202ecod.txt", "\ufeff", "a\rb"])
def test_nothing_hides_in_a_record(hidden: str) -> None:
    text = record({"data": Data(hidden + "\n")}).decode()
    assert all(char.isprintable() or char == "\n" for char in text)
