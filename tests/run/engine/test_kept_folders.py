"""What failed jobs have left, as their notes say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.run.engine.kept_folders import kept_folders
from pegasus_bb.run.engine.submitdir import SubmitDir


def kept(tmp_path: Path, files: str) -> list[str]:
    """The words for one folder, whose note has ``files`` as their number."""
    (tmp_path / "bb/failed/mix_A.7.0").mkdir(parents=True)
    note = json.dumps({"node": "mix_A", "size": 1 << 20, "left": 0})
    text = f'{note[:-1]}, "files": {files}}}'
    (tmp_path / "bb/failed/mix_A.7.0.json").write_text(text)
    found = kept_folders(SubmitDir(tmp_path, tmp_path / "w.dag"))
    return [each.words for each in found]


@pytest.mark.parametrize(
    "odd", ["Infinity", "NaN", "-1", "1.5", '"2"', f"1{'0' * 400}"]
)
def test_a_note_with_an_odd_number_is_none_of_ours(tmp_path: Path, odd: str) -> None:
    assert kept(tmp_path, odd) == []
