"""What is said of a run that went on on the PFS (--bb-fallback pfs)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.settled import on_the_pfs


def fallback_of(bb: Path) -> dict[str, Any] | None:
    """Where the run went in place of its reservation, why, and since when; None where
    it did not. Raises UsageError where that cannot be read."""
    folder = BBDir(str(bb))
    found = on_the_pfs(folder, folder.request()) if folder.has_request else None
    return found._asdict() if found else None


def fallback_lines(fallback: dict[str, Any] | None) -> list[str]:
    """For a person; none where there was no fallback."""
    if fallback is None:
        return []
    because = " ".join(str(fallback["because"]).split())
    return [f"ON THE PFS, NOT ON A BURST BUFFER (fallback): {because}"]
