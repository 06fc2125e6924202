"""The file system hears how long a copy will live, where it wants to hear that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.model.placement import HINTS
from pegasus_bb.runtime.staging import onefile
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.folder_lfns import copy_path
from pegasus_bb.runtime.staging.hints import hint_of
from pegasus_bb.runtime.staging.mover import Mover
from pegasus_bb.runtime.staging.pour import Poured
from pegasus_bb.runtime.staging.writing import Writing
from tests.support.kept_hints import keeps_hints

from .conftest import items_of

__all__ = ["keeps_hints"]
SIZES = {"empty": 0, "small": 100, "batch": 1 << 20, "alone": 9 << 20}


def moved(folder: Path, hint: int) -> dict[str, Path]:
    """A file of each size, moved with ``hint``."""
    (folder / "from").mkdir()
    (folder / "to").mkdir()
    for name, size in SIZES.items():
        (folder / "from" / name).write_bytes(os.urandom(size))
    items = items_of(folder / "from", folder / "to", hint)
    outcomes = list(Mover(SHA256).move(items))
    assert [outcome.failure for outcome in outcomes] == [None] * len(SIZES)
    return {name: folder / "to" / name for name in SIZES}


@pytest.mark.parametrize("word", HINTS)
def test_every_copy_has_the_hint_under_its_own_name(
    tmp_path: Path, copier: str, word: str
) -> None:
    copies = moved(tmp_path, HINTS[word])
    assert {hint_of(str(path)) for path in copies.values()} == {HINTS[word]}
    for name, path in copies.items():
        assert path.read_bytes() == (tmp_path / "from" / name).read_bytes()


def test_the_hint_is_there_before_the_first_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system chooses the place of a file when its first bytes are written."""
    seen: list[int] = []
    pour = onefile.pour

    def watched(source: int, out: int, *rest: object, **more: object) -> Poured:
        assert os.fstat(out).st_size == 0
        seen.append(hint_of(f"/proc/self/fd/{out}"))
        return pour(source, out, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(onefile, "pour", watched)
    (tmp_path / "from").write_bytes(b"bytes")
    copy_path(
        str(tmp_path / "from"),
        str(tmp_path / "to"),
        writing=Writing(hint=HINTS["short"]),
    )
    assert seen == [HINTS["short"]]
