"""What failed jobs have left in bb/failed, for a person."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.files import read_json
from pegasus_bb.core.units import format_files, format_size
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.bbdir import FAILED


class KeptFolder(NamedTuple):
    node: str
    path: str
    files: int
    size: int  # bytes
    left: int  # files that are not there

    @property
    def words(self) -> str:
        """Where it is, and how large."""
        lacks = f"; {format_files(self.left)} NOT KEPT" if self.left else ""
        size = format_size(self.size)
        return f"{self.path} ({format_files(self.files)}, {size}{lacks})"


def kept_folders(place: SubmitDir) -> list[KeptFolder]:
    """By node and try; those that the user has removed are left out."""
    notes = sorted((place.bb / FAILED).glob("*.json"))
    found = (_kept(note) for note in notes if note.with_suffix("").is_dir())
    return [each for each in found if each is not None]


def _kept(note: Path) -> KeptFolder | None:
    try:
        data = read_json(str(note))
        counts = (_count(data[key]) for key in ("files", "size", "left"))
        return KeptFolder(str(data["node"]), str(note.with_suffix("")), *counts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _count(value: object) -> int:
    """Raises ValueError for what no launcher of ours has written."""
    if isinstance(value, int) and 0 <= value < 1 << 63:
        return value
    raise ValueError("no count")
