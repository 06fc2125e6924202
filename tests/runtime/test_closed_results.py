"""Results that a task has closed to writing, as a user who is not root leaves them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pegasus_bb.runtime.job_reservation import results
from pegasus_bb.runtime.job_reservation.stage_out_landing import StageOutLanding
from pegasus_bb.runtime.job_reservation.travelled import renamed_result

RENAME = os.rename


@pytest.fixture(autouse=True)
def no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may rename what others may not: a folder that is closed, out of one."""

    def rename(path: str, to: str) -> None:
        folders = [place for place in (Path(path), Path(path).parent) if place.is_dir()]
        if any(not folder.stat().st_mode & 0o200 for folder in folders):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        RENAME(path, to)

    monkeypatch.setattr(os, "rename", rename)


def test_a_folder_that_is_closed_gets_its_name_and_stays_closed(tmp_path: Path) -> None:
    landing = StageOutLanding(str(tmp_path), "mix_A", "4.0", {"made": {}})
    made = Path(landing.folder, "made")
    made.mkdir(parents=True)
    (made / "data").touch()
    made.chmod(0o500)
    landing.name()
    assert (tmp_path / "made" / "data").exists()
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o500


def test_a_result_in_a_folder_that_is_closed_is_copied(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.dat").write_text("made")
    folder.chmod(0o500)
    assert renamed_result(str(folder / "a.dat"), str(tmp_path / "a.dat")) is None


def test_a_folder_may_lead_to_other_results_whatever_its_number_of_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On btrfs it is always one. So it goes before the results that move."""
    (tmp_path / "made").mkdir()
    (tmp_path / "plain").touch()
    lstat = os.lstat

    def of_btrfs(path: str) -> os.stat_result:
        facts = list(lstat(path))
        facts[3] = 1
        return os.stat_result(facts)

    monkeypatch.setattr(os, "lstat", of_btrfs)
    assert results.is_shared(str(tmp_path / "made"))
    assert not results.is_shared(str(tmp_path / "plain"))
