"""The folder of a tier: its file system, its room, and that nothing stays in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import NotMeasured, UsageError
from pegasus_bb.core.process import Finished
from pegasus_bb.core.units import GIB
from pegasus_bb.report.bench import measured_tier as module
from pegasus_bb.report.bench.cells import Cell
from pegasus_bb.report.bench.measured_tier import (
    PREFIX,
    Place,
    left_behind,
    place,
    temporary_folder,
)
from pegasus_bb.report.bench.session import Session


@pytest.fixture
def tier(tmp_path: Path) -> Place:
    return place(f"bb={tmp_path}")


def test_a_tier_is_named_or_takes_the_name_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "fast").mkdir()
    assert place(f"bb={tmp_path}").name == "bb"
    assert place(f"{tmp_path}/fast/").name == "fast"
    (tmp_path / "a=b").mkdir()
    assert place(f"{tmp_path}/a=b").name == "a=b"


@pytest.mark.parametrize("text", ["bb=", "", "slots=/tmp", "/", "b\nb=/tmp"])
def test_a_tier_without_a_name_or_folder_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as bb=/mnt/bb"):
        place(text)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"there is no folder {tmp_path}/none"):
        place(f"bb={tmp_path}/none")


def test_a_folder_of_another_user_is_refused(of_a_user: Path) -> None:
    (of_a_user / "read").mkdir(mode=0o500)
    with pytest.raises(UsageError, match="you may not write there"):
        place(f"bb={of_a_user}/read")


def test_the_file_system_is_that_of_the_last_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [Finished(0, "rootfs\nlustre\n", ""), Finished(127, "", "no findmnt")]
    monkeypatch.setattr(module, "ask", lambda *_, **__: answers.pop(0))
    kinds = [place(f"bb={tmp_path}").kind for _ in range(2)]
    assert kinds == ["lustre", "unknown"]


def test_a_full_tier_is_refused(tier: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Place, "free", lambda _: 10 * GIB)
    words = r"128 x 1.0 GiB are 128.0 GiB, and /.* has room for 9.0 GiB; use smaller"
    with pytest.raises(UsageError, match=f"tier bb: {words}"):
        Session([tier], [Cell(GIB, 1), Cell(GIB, 128)])


def test_a_tier_in_memory_has_no_more_room_than_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 8000 kB\nMemAvailable: 1 kB\n")
    monkeypatch.setattr(module, "_MEMORY", str(memory))
    assert Place("bb", str(tmp_path), "tmpfs", 1).free() == 1024
    assert Place("bb", str(tmp_path), "ext4", 1).free() > 1024


def test_the_temporary_folder_goes_with_its_files(tier: Place, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), temporary_folder(tier) as folder:
        Path(folder, "data").mkdir()
        Path(folder, "data", "x").touch()
        assert left_behind(tier) == [folder]
        raise KeyboardInterrupt
    assert left_behind(tier) == list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_removed_is_named(
    tier: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(module, "remove", refuse)
    said = pytest.raises(NotMeasured, match=f"{PREFIX}.*: cannot be removed")
    with said, temporary_folder(tier):
        pass
