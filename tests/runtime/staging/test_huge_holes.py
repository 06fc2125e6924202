"""Holes cost nothing: a file of a TiB that has three bytes is copied at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.staging import hashing
from pegasus_bb.runtime.staging.onefile import digest_file


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
