"""Two files are never counted as copied where the file system makes one of them."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.lookalikes import Made
from tests.support.folding import Fold, Folding

from .conftest import TwoTrees

FOLDS: dict[str, tuple[Fold, str, str]] = {
    "case": (str.lower, "README", "readme"),
    "accents": (lambda n: unicodedata.normalize("NFC", n), "\u00e9", "e\u0301"),
}


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGASUS_BB_HELPER", "none")


@pytest.mark.parametrize("kind", FOLDS)
def test_two_files_that_are_one_there_fail_every_call(
    trees: TwoTrees, plain: None, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    fold, one, other = FOLDS[kind]
    trees.write(f"d/{one}", "1")
    trees.write(f"d/{other}", "two")
    trees.write("fine", "3")
    trees.dest.mkdir()
    Folding(trees.dest, fold, monkeypatch)
    for _ in range(3):
        trees.stage()
        assert [f for f in trees.failures if "takes both names for one" in f]
    assert (trees.dest / "fine").read_text() == "3"


def test_a_folder_of_results_with_two_that_are_one_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold, one, other = FOLDS["case"]
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    for name in (one, other):
        (tmp_path / "from" / name).write_text(name)
    Folding(tmp_path / "to", fold, monkeypatch)
    with pytest.raises(CopyFailed, match="takes both names for one"):
        copy_path(str(tmp_path / "from"), str(tmp_path / "to" / "d"))


def test_a_name_that_is_another_s_is_noticed_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made()
    paths = [str(tmp_path / name) for name in ("a.out", "A.OUT")]
    made.check(paths[0])
    made.add(paths[0])
    Path(paths[0]).write_text("1")
    made.check(paths[0])  # its own, once more
    made.check(paths[1])  # nothing is there
    with monkeypatch.context() as patched:
        Folding(tmp_path, str.lower, patched)
        with pytest.raises(CopyFailed, match=r"a\.out"):
            made.check(paths[1])
    Path(paths[1]).write_text("2")
    made.check(paths[1])
