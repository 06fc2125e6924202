"""examples/papers/bios: what it prints is what is committed, and keeps the goals."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIOS = Path(__file__).parents[3] / "examples" / "papers" / "bios"


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads((BIOS / "output.json").read_text())


@pytest.mark.nightly
def test_one_seed_prints_the_same_bytes_again() -> None:
    words = [sys.executable, BIOS / "reproduce.py", "--seeds", "1", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout == (BIOS / "output-1-seed.json").read_text(), done.stderr


def test_the_text_is_of_the_same_figures(found: Any, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(str(BIOS))
    lines = runpy.run_path(str(BIOS / "reproduce.py"))["lines"]
    assert "\n".join([*lines(found), ""]) == (BIOS / "output.txt").read_text()


@pytest.mark.parametrize(
    ("key", "least", "most"),
    [
        ("legacy", 1.69, 1.79),
        ("best", 1.0, 1.02),
        ("config3", 1.4, 1.55),
        ("job_per_stream", 1.0, 1.05),
    ],
)
def test_the_synthetic_load(found: Any, key: str, least: float, most: float) -> None:
    assert least <= found[key]["waf"] <= most


def test_forty_workflows_of_one_user(found: Any) -> None:
    one = found["policies"]["users_1"]
    assert one["waf"]["user"] == one["waf"]["legacy"]  # a user has one stream
    assert one["gain"] >= 1.2
    assert one["waf"]["user"] >= 1.2 * one["waf"]["workflow"]  # it needs no times


def test_no_shape_is_worse_off_than_by_bios_own_rule(found: Any) -> None:
    assert len(found["shapes"]) == 12
    for shape, each in found["shapes"].items():
        assert each["least_gain"] >= 1, shape


def test_the_readme_says_what_it_prints(found: Any) -> None:
    readme = (BIOS / "README.md").read_text(encoding="utf-8")
    for key in ("legacy", "best", "config2", "config3", "config3_no_trim"):
        assert f"{found[key]['waf']:.3f}" in readme, key
    for waf in found["policies"]["users_1"]["waf"].values():
        assert f"{waf:.3f}" in readme
