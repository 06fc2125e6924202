"""pegasus.properties and -D: found and layered as pegasus-plan does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.properties import (
    Properties,
    Setting,
    read_properties,
)
from pegasus_bb.model.propertyfile import format_properties, parse_properties


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "cwd").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "conf").write_text("who = conf\n")
    (tmp_path / "cwd" / "pegasus.properties").write_text("who = cwd\nwhere = cwd\n")
    (tmp_path / "home" / ".pegasusrc").write_text("who = home\n")
    return tmp_path


def read(here: Path, *defines: str, conf: Path | None = None) -> Properties:
    return read_properties(conf, defines, here / "cwd", here / "home")


def test_conf_stands_in_place_of_every_other_file(here: Path) -> None:
    assert dict(read(here, conf=here / "conf")) == {"who": "conf"}


def test_else_the_file_of_the_working_directory(here: Path) -> None:
    assert dict(read(here)) == {"who": "cwd", "where": "cwd"}


def test_else_that_of_the_home_directory(here: Path) -> None:
    (here / "cwd" / "pegasus.properties").unlink()
    assert dict(read(here)) == {"who": "home"}


def test_else_none(here: Path) -> None:
    (here / "cwd" / "pegasus.properties").unlink()
    (here / "home" / ".pegasusrc").unlink()
    assert dict(read(here)) == {}


def test_a_define_wins_over_the_file_and_the_last_over_the_first(here: Path) -> None:
    found = read(here, "who=first", "who = last ", "new=a=b")
    assert dict(found) == {"who": "last", "where": "cwd", "new": "a=b"}


@pytest.mark.parametrize("define", ["who", "=x", " =x", ""])
def test_a_define_without_key_or_value_is_refused(here: Path, define: str) -> None:
    with pytest.raises(UsageError, match="-Dkey=value"):
        read(here, define)


def test_a_conf_that_is_not_there_is_refused(here: Path) -> None:
    with pytest.raises(CatalogError, match="cannot be read"):
        read(here, conf=here / "nowhere")


def test_java_s_ways_of_writing(here: Path) -> None:
    (here / "conf").write_text(
        "# note\n! note\na=1\nb : 2\nc 3\nd = one \\\n    two\ne\\ f = \\u00fc\ng=\n"
    )
    assert dict(read(here, conf=here / "conf")) == {
        "a": "1",
        "b": "2",
        "c": "3",
        "d": "one two",
        "e f": "ü",
        "g": "",
    }


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("a\\:b=c\\=d", "a:b", "c=d"),
        ("a = b = c", "a", "b = c"),
        ("a\tb\\tc", "a", "b\tc"),
        ("a=\\ud83d\\ude00", "a", "\U0001f600"),
        ("a=b\\\\\nc=d", "a", "b\\"),
        ("\\\n  # a=1", "#", "a=1"),
        ("a=1\\", "a", "1"),
        ("\ra=1\r\n", "a", "1"),
    ],
)
def test_java_s_rarer_ways_of_writing(text: str, key: str, value: str) -> None:
    assert next(parse_properties(text))[1:] == (key, value)


def test_an_error_knows_the_line_even_after_notes_and_continued_lines(
    here: Path,
) -> None:
    (here / "conf").write_text("# note\n\na = 1 \\\n  2\n\nbad = x\n")
    error = read(here, conf=here / "conf").error("bad", "is bad", "good")
    assert (error.file, error.line) == (str(here / "conf"), 6)
    assert (error.key, error.found, error.would_do) == ("bad", "x", "good")


def test_an_error_about_a_define_says_so(here: Path) -> None:
    error = read(here, "who=x").error("who", "is bad")
    assert str(error).startswith("-D: is bad")


@pytest.mark.parametrize("raw", [b"a = \\u00g0\n", b"a = \xfc\n"])
def test_a_file_that_is_none_is_refused(here: Path, raw: bytes) -> None:
    (here / "conf").write_bytes(raw)
    with pytest.raises(CatalogError, match="is not a properties file"):
        read(here, conf=here / "conf")


def test_laying_values_over_leaves_the_first_as_they_were() -> None:
    first = Properties({"a": Setting("1", "f"), "b": Setting("2", "f")})
    second = first.with_values({"b": "3", "c": "4"}, "us")
    assert dict(first) == {"a": "1", "b": "2"}
    assert dict(second) == {"a": "1", "b": "3", "c": "4"}
    assert list(second) == ["a", "b", "c"]


def test_what_is_written_reads_back(here: Path) -> None:
    odd = {
        "a b": "x=y",
        "\U0001f600": "\t\x00",
        "c:d": " # !",
        "e": "ü\\",
        "pegasus.x": "",
        "f": "1\n2",
    }
    (here / "conf").write_text(format_properties(odd))
    again = read(here, conf=here / "conf")
    assert list(again) == list(odd)
    assert {k: v.strip() for k, v in odd.items()} == dict(again)
