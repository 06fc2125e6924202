"""What is made durable together: many files by one call."""

from __future__ import annotations

import os

import pytest

from pegasus_bb.staging import sync

from .conftest import TwoTrees

MIB = 1 << 20


@pytest.mark.usefixtures("copier")
def test_files_of_a_few_mebibytes_share_one_call(
    trees: TwoTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For 20 files by themselves it was 20 calls, and the copiers waited for each."""
    for number in range(20):
        trees.write(f"{number:02d}", os.urandom(MIB + number))

    def one_by_one(item: object, tag: str) -> None:
        raise AssertionError("a file was made durable by itself")

    monkeypatch.setattr(sync, "_sync_part", one_by_one)
    stage = trees.stage()
    assert (stage.files, trees.failures) == (20, [])
    for number in range(20):
        name = f"{number:02d}"
        assert (trees.dest / name).read_bytes() == (trees.source / name).read_bytes()


@pytest.mark.usefixtures("copier")
def test_one_of_them_that_fails_costs_itself_only(trees: TwoTrees) -> None:
    for name in ("one", "two", "three"):
        trees.write(name, os.urandom(2 * MIB))
    (trees.dest / "two").mkdir(parents=True)  # no file can have that name
    assert trees.stage().files == 2
    (failure,) = trees.failures
    assert "two" in failure and trees.parts() == []
    (trees.dest / "two").rmdir()
    again = trees.stage()
    assert (again.files, again.kept, trees.failures) == (1, 2, [])
