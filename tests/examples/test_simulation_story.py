"""The story of examples/simulation prints what is committed beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "simulation"
PAGE = Path(__file__).parents[2] / "docs" / "simulation.md"


def test_it_prints_what_is_committed() -> None:
    argv = [sys.executable, str(FOLDER / "checkpoints.py")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == (FOLDER / "checkpoints.out").read_text(encoding="utf-8")


def test_the_page_shows_its_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition("```python\n")[2].partition("```")[0]
    assert shown in (FOLDER / "checkpoints.py").read_text(encoding="utf-8")
