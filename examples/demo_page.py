"""Both examples' comparisons as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.page import report_page


def write_page(path: Path, report: dict[str, Any]) -> None:
    """Draw what report.json holds of every example."""
    examples = report["examples"].items()
    text = report_page({name: found["comparison"] for name, found in examples})
    path.write_text(text, encoding="utf-8")
