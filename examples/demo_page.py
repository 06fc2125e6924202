"""The comparisons of both examples as one page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pegasus_bb.page import report_page
from pegasus_bb.report import Comparison, compare, read_run


def write_page(path: Path, folder: Path, examples: Iterable[str]) -> None:
    """Draw the runs of every example below ``folder``."""
    text = report_page({name: _comparison(folder / name) for name in examples})
    path.write_text(text, encoding="utf-8")


def _comparison(home: Path) -> Comparison:
    return compare([read_run(home / "pfs")], [read_run(home / "bb")])
