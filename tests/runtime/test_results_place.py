"""Where results go is compared with what planning has seen there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.results_place import ResultsPlace


def fault(folder: Path, results: Any, path: str = "") -> str:
    (folder / "plan.json").write_text(json.dumps({"results": results}))
    return ResultsPlace.of(BBDir(str(folder))).fault(path)


def test_what_was_mounted_is_not_on_the_root_file_system(tmp_path: Path) -> None:
    noted = {"folders": [], "mounted": ["/proc", "/"]}
    assert (
        fault(tmp_path, noted) == "/: was mounted when this was planned, and is not now"
    )
    assert not fault(tmp_path, {"folders": [], "mounted": ["/proc"]})


def test_only_the_place_of_a_file_counts_for_it(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    noted = {"folders": [gone], "mounted": []}
    assert fault(tmp_path, noted, f"{gone}/out.txt").startswith(f"{gone}: was there")
    assert not fault(tmp_path, noted, str(tmp_path / "out.txt"))


@pytest.mark.parametrize("results", [None, 5, "/tmp", [], {"folders": []}])
def test_a_damaged_note_tells_nothing(tmp_path: Path, results: Any) -> None:
    assert not fault(tmp_path, results)
