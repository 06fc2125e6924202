"""Properties come back as they were written, and are read as another reader does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from javaproperties import loads

from pegasus_bb.model.propertyfile import format_properties, parse_properties

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KEYS = TEXT.filter(bool)
PIECES = ["a", "b.c", " ", "=", ":", "\\", "\n", "\r\n", "#", "!", "\\u0041", "\t", "é"]
FILES = st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


@given(st.dictionaries(KEYS, TEXT, max_size=5))
def test_what_is_written_is_read(properties: dict[str, str]) -> None:
    text = format_properties(properties)
    found = {key: value for _, key, value in parse_properties(text)}
    assert found == properties and list(found) == list(properties)
    assert text.isascii() and text.count("\n") == len(properties)


@given(FILES)
def test_any_file_is_read_as_java_does(text: str) -> None:
    try:
        expected = loads(text)
    except ValueError:
        expected = None
    try:
        found = {key: value for _, key, value in parse_properties(text)}
    except ValueError:
        found = None
    assert found == expected
