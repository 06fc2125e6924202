"""Golden files: outputs that a reviewer reads, as they were accepted."""

from __future__ import annotations

import os
from pathlib import Path

REFRESHED = bool(os.environ.get("REFRESH_GOLDEN"))


def matches_golden(text: str, file: Path) -> None:
    """Fail if ``file`` has another text; with REFRESH_GOLDEN=1 it gets this one."""
    if REFRESHED:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    wanted = file.read_text(encoding="utf-8")
    renewal = "if it changes on purpose, run this test with REFRESH_GOLDEN=1"
    assert text == wanted, f"this is not what {file} has; {renewal}"
