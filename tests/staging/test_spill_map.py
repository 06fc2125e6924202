"""What is remembered of files with several names is right, in memory and on disk."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.staging import spill_map
from pegasus_bb.staging.spill_map import SpillMap
from tests.staging.conftest import TwoTrees

KEYS = st.binary(max_size=2)
STEPS = st.lists(st.tuples(st.sampled_from(["put", "drop"]), KEYS, st.binary()))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three are many."""
    monkeypatch.setattr(spill_map, "_MANY", 3)


@given(steps=STEPS)
def test_it_is_a_mapping(steps: list[tuple[str, bytes, bytes]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill_map, "_MANY", 3)
        found = SpillMap()
        known: dict[bytes, bytes] = {}
        for what, key, value in steps:
            if what == "put":
                found.put(key, value)
                known[key] = value
            else:
                found.discard(key)
                known.pop(key, None)
            assert found.get(key) == known.get(key)
        assert {key: found.get(key) for key in known} == known


def test_without_sqlite_it_is_in_memory(
    few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    found = SpillMap()
    for number in range(10):
        found.put(b"%d" % number, b"x")
    assert [found.get(b"%d" % number) for number in range(11)] == [b"x"] * 10 + [None]


def test_no_room_for_it_is_an_error_with_a_way_out(few: None) -> None:
    found = SpillMap()
    for number in range(3):
        found.put(b"%d" % number, b"x")
    assert found._file is not None
    found._file._do("PRAGMA max_page_count = 3")
    with pytest.raises(OSError, match="is full; TMPDIR says") as error:
        for number in range(9):
            found.put(b"%d" % number, b"x" * 8000)
    assert error.value.errno == errno.ENOMEM


def test_many_files_of_many_names_stay_what_they_are(
    trees: TwoTrees, few: None
) -> None:
    for number in range(20):
        first = trees.write(f"a/{number}", f"text {number}")
        for folder in "bc":
            (trees.source / folder).mkdir(exist_ok=True)
            os.link(first, trees.source / folder / f"{19 - number}")
    trees.stage()
    assert trees.failures == []
    for number in range(20):
        places = [f"a/{number}", f"b/{19 - number}", f"c/{19 - number}"]
        copies = [trees.dest / place for place in places]
        assert {path.read_text() for path in copies} == {f"text {number}"}
        assert len({path.stat().st_ino for path in copies}) == 1
    assert trees.stage().files == 0, "all of them are known"
    assert trees.failures == []


def names_below(folder: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(folder))


def test_nothing_of_it_is_left_in_the_folder_for_temporary_files(
    tmp_path: Path, few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    found = SpillMap()
    for number in range(5000):
        found.put(b"%d" % number, b"x" * 4000)
    assert found.get(b"0") == b"x" * 4000
    assert names_below(tmp_path) == 0
