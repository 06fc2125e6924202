"""examples/papers/tang: its figures, its committed output, the words of its README."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TANG = Path(__file__).parents[3] / "examples" / "papers" / "tang"


def run(*options: str) -> str:
    command = [sys.executable, str(TANG / "reproduce.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads(run("--json", "--seeds", "1"))


@pytest.mark.nightly
def test_it_prints_what_is_committed() -> None:
    assert run() == (TANG / "output.txt").read_text(encoding="utf-8")


def test_eq_4_at_the_bounds_of_table_2(found: Any) -> None:
    bounds = [each["bandwidth"] for each in found["table2"].values()]
    assert bounds == pytest.approx([4.525, 4.287, 4.095, 5.430], abs=0.001)


def test_the_figures_of_table_3(found: Any) -> None:
    assert found["reactive"] == pytest.approx(888.9, abs=0.05)
    assert found["ideal"] == pytest.approx(54.54, abs=0.01)
    assert found["ideal_all"] == pytest.approx(98.99, abs=0.01)
    assert found["provisioned"] == pytest.approx(55.33, abs=0.1)


@pytest.mark.parametrize("osts", ["osts_4", "osts_2"])
def test_the_shape_of_fig_8(found: Any, osts: str) -> None:
    fig8 = found["fig8"]
    reactive = fig8[osts]["reactive"]
    proactive = fig8[osts]["proactive"]
    assert proactive["peak_max"] <= 1.1 * fig8["load"]
    assert proactive["late"] == 0
    assert reactive["peak_min"] >= 3 * fig8["load"]


def test_the_readme_says_what_it_prints(found: Any) -> None:
    readme = (TANG / "README.md").read_text(encoding="utf-8")
    for key in ("ideal", "ideal_all", "provisioned", "provisioned_conservative"):
        assert f"{found[key]:.2f}" in readme
    late = found["eq8"]
    assert f"{late['late']} of {late['dumps']} dumps are late" in readme
