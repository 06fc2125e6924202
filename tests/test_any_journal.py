"""Any journal: every whole line is read, whatever stands behind it, none invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.files import append_json, read_journal
from pegasus_bb.runtime import manifest

# Any text, halves of pairs as os.fsdecode makes of bytes that are none included.
TEXT = st.text(st.characters(), max_size=12)
VALUES = TEXT | st.integers() | st.booleans() | st.none() | st.lists(TEXT, max_size=3)
ENTRIES = st.lists(st.dictionaries(TEXT, VALUES, max_size=4), min_size=1, max_size=5)
# What a file system may leave behind the last whole line: zeros, or anything at all
# that is not a line of its own.
TAILS = st.binary(max_size=20).map(lambda tail: tail.replace(b"{", b"["))


def written(folder: pytest.TempPathFactory, entries: list[dict[str, Any]]) -> Path:
    path = folder.mktemp("journal") / "j.jsonl"
    for entry in entries:
        append_json(str(path), entry)
    return path


@given(entries=ENTRIES, tail=TAILS)
def test_anything_may_stand_behind_the_last_whole_line(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, Any]], tail: bytes
) -> None:
    path = written(tmp_path_factory, entries)
    assert list(read_journal(str(path))) == entries
    with path.open("ab") as journal:
        journal.write(tail)
    append_json(str(path), {"after": 1})
    assert list(read_journal(str(path))) == [*entries, {"after": 1}]


LINES = st.lists(st.tuples(TEXT, st.sampled_from(["ours", "other"])), max_size=6)


@given(lines=LINES, share=st.floats(0, 1))
def test_a_manifest_vouches_only_for_lines_of_this_run_that_are_whole(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str]], share: float
) -> None:
    entries = [
        {"lfn": lfn, "dest": f"/out/{n}", "size": n, "uuid": uuid}
        for n, (lfn, uuid) in enumerate(lines)
    ]
    path = written(tmp_path_factory, [{"lfn": 1}, *entries])
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    kept = list(read_journal(str(path)))
    found = manifest.read(str(path), "ours")
    assert all(entry in entries and entry["uuid"] == "ours" for entry in found.values())
    assert set(found) == {e["lfn"] for e in kept if e.get("uuid") == "ours"}
