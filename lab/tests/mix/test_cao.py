"""The example papers/cao: what it prints is what is committed, and keeps the goals."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

CAO = Path(__file__).parents[3] / "examples" / "papers" / "cao"


@pytest.fixture(scope="module")
def output() -> Any:
    return json.loads((CAO / "output.json").read_text())


@pytest.mark.sweep
def test_one_seed_prints_the_same_bytes_again() -> None:
    words = [CAO / "run", "--seeds", "1", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == (CAO / "output-1-seed.json").read_text(), done.stderr


def test_one_seed_has_no_interval() -> None:
    lines = runpy.run_path(str(CAO / "reproduce.py"))["lines"]
    said = "\n".join(lines(json.loads((CAO / "output-1-seed.json").read_text())))
    assert said.count("points: one seed has no interval") == 2
    assert "told apart" not in said


@pytest.mark.parametrize(
    ("case", "key", "within"),
    [
        ("shared", "mean", 0.05),
        ("shared", "median", 0.05),
        ("shared", "max", 0.05),
        ("shared20", "median", 0.05),
        ("local", "mean", 0.07),
        ("local", "median", 0.07),
    ],
)
def test_table_4(output: Any, case: str, key: str, within: float) -> None:
    paper = output["paper"]["table4"][case][key]
    assert output["table4"][case][key] == pytest.approx(paper, rel=within)


@pytest.mark.parametrize("architecture", ["local", "shared"])
def test_overhead_rises_with_parity_as_young_says(
    output: Any, architecture: str
) -> None:
    rows = output["fig1"][architecture]
    overheads = [row["overhead"] for row in rows.values()]
    assert overheads == sorted(set(overheads))
    for parity, row in rows.items():
        expected = (1 - int(parity) / 100) ** -0.5
        assert row["ratio"] == pytest.approx(expected, rel=0.15)
