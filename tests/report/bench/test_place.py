"""The folder of a tier: its file system, its room, and that nothing stays in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import GIB
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.measured_tier import Place, place
from pegasus_bb.report.bench.session import Session


@pytest.fixture
def tier(tmp_path: Path) -> Place:
    return place(f"bb={tmp_path}")


@pytest.mark.parametrize("text", ["bb=", "", "slots=/tmp", "/", "b\nb=/tmp"])
def test_a_tier_without_a_name_or_folder_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as bb=/mnt/bb"):
        place(text)


def test_a_full_tier_is_refused(tier: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "free", lambda _: 10 * GIB)
    words = r"128 x 1.0 GiB are 128.0 GiB, and /.* has room for 9.0 GiB; use smaller"
    with pytest.raises(UsageError, match=f"tier bb: {words}"):
        Session([tier], [Cell(GIB, 1), Cell(GIB, 128)])
