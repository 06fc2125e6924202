"""The page on Python: its example runs, and its tables have what the types have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from pegasus_bb import RunComparison, WorkflowExplanation, WorkflowPlan
from tests.docs.conftest import in_words

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/api.md"


@pytest.mark.sweep
def test_the_example_runs(words: Path) -> None:
    block = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert block is not None
    home = {"HOME": str(words.parent / "home")}
    done = subprocess.run(
        [sys.executable, "-c", block[1]],
        cwd=words,
        env={**os.environ, **in_words(words), **home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *table, command, headline = done.stdout.splitlines()
    assert any("capacity: 64.0 MiB" in line for line in table)
    assert command.startswith(f"pegasus-bb run {words}/submit/")
    assert headline.startswith("The run on the burst buffer took ")


@pytest.mark.parametrize("kind", [WorkflowPlan, WorkflowExplanation, RunComparison])
def test_the_page_lists_what_a_result_has(kind: type) -> None:
    table = PAGE.read_text().partition(f"| {kind.__name__} |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]
    names = ",".join(re.sub(r"\(.*?\)", "", cell) for cell in cells)
    listed = {name.strip() for name in names.split(",")}
    public = {name for name in vars(kind) if not name.startswith("_")}
    public |= {field.name for field in fields(kind)}
    assert listed == public, f"in {PAGE.name}, let the table list what differs here"
