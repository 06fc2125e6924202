"""Holes cost nothing: a file of a TiB that has three bytes is copied at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.staging import hashing
from pegasus_bb.runtime.staging.digests import is_by_blocks
from pegasus_bb.runtime.staging.onefile import copy_file, digest_file
from tests.support.counting import calls

TIB = 1 << 40
PLACES = (5, TIB // 3, TIB - 1)


def write_huge(path: Path, size: int = TIB) -> None:
    with path.open("wb") as out:
        for place in PLACES:
            if place < size:
                out.seek(place)
                out.write(b"x")
        out.truncate(size)


def bytes_at(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return [os.pread(file.fileno(), 2, place - 1) for place in PLACES]


def test_a_file_with_huge_holes_is_copied_and_verified_at_once(tmp_path: Path) -> None:
    source = tmp_path / "source"
    dest = tmp_path / "dest"
    write_huge(source)
    steps = calls(lambda: copy_file(str(source), str(dest)))
    steps += calls(lambda: digest_file(str(dest)))
    assert steps < 2000
    copied = copy_file(str(source), str(dest))
    assert is_by_blocks(copied.digest) and digest_file(str(dest)) == copied.digest
    assert dest.stat().st_size == TIB and bytes_at(dest) == bytes_at(source)
    with dest.open("r+b") as out:
        os.pwrite(out.fileno(), b"y", PLACES[1])
    assert digest_file(str(dest)) != copied.digest


@given(
    data=st.lists(st.tuples(st.integers(0, 40), st.binary(max_size=6)), max_size=6),
    size=st.integers(0, 44),
)
def test_a_digest_of_blocks_tells_contents_and_not_holes(
    tmp_path_factory: pytest.TempPathFactory,
    data: list[tuple[int, bytes]],
    size: int,
) -> None:
    root = tmp_path_factory.mktemp("blocks")
    unit = hashing.BLOCK // 4
    sparse, dense, other = (root / name for name in ("sparse", "dense", "other"))
    with sparse.open("wb") as out:
        for place, text in data:
            out.seek(place * unit)
            out.write(text)
        out.truncate(size * unit)
    contents = sparse.read_bytes()
    dense.write_bytes(contents)
    other.write_bytes(contents + b"\0")
    of_sparse, of_dense, of_other = (
        digest_file(str(path), "sha256-blocks:") for path in (sparse, dense, other)
    )
    assert of_sparse == of_dense != of_other
    if contents:
        at = size * unit // 2
        dense.write_bytes(contents[:at] + b"!" + contents[at + 1 :])
        changed = contents[at : at + 1] != b"!"
        assert (digest_file(str(dense), of_sparse) != of_sparse) is changed
