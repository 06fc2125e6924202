"""What explain says of pacing comes from the forecast that planning has made."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.api import explaining
from pegasus_bb.cli.explain import command
from pegasus_bb.planner import drain_files
from tests.support.user_files import User

SPEEDS = """
cluster:
  slots: 4
  pfs: {read: 1GB/s, write: 1GB/s}
  bb: {read: 8GB/s, write: 8GB/s}
"""


def test_explain_of_a_paced_run_simulates_it_once(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.read()
    (chain.folder / "speeds.yml").write_text(SPEEDS)
    monkeypatch.chdir(chain.folder)
    forecasts: list[Any] = []
    simulated: Callable[..., Any] = drain_files.forecast
    monkeypatch.setattr(
        drain_files,
        "forecast",
        lambda *given: forecasts.append(given) or simulated(*given),
    )
    words = ["--bb-mode", "persistent", "--bb-speeds", "speeds.yml"]
    words += ["--sites", "cluster", "--output-dir", "out"]
    for how in ("paced", "now"):
        forecasts.clear()
        shown = CliRunner().invoke(command, [*words, "--bb-drain", how])
        assert "draining: " in shown.output
        assert len(forecasts) == 1


def early_results(chain: User) -> list[str]:
    """Each job makes a result; arguments of explain."""
    for entry in chain.jobs:
        entry["uses"][1]["stageOut"] = True
    chain.read()
    (chain.folder / "speeds.yml").write_text(SPEEDS)
    words = ["--bb-mode", "persistent", "--bb-speeds", "speeds.yml", "--json"]
    return [*words, "--sites", "cluster", "--output-dir", "out"]


def lifetimes(*words: str) -> dict[str, int]:
    shown = CliRunner().invoke(command, words)
    assert shown.exception is None or shown.exit_code == 0, shown.output
    return {file["lfn"]: file["lifetime"] for file in json.loads(shown.stdout)["files"]}


def test_a_paced_result_counts_until_the_run_ends(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lie on the tier so long."""
    words = early_results(chain)
    monkeypatch.chdir(chain.folder)
    assert lifetimes(*words, "--bb-drain", "now")["a"] == 2
    assert lifetimes(*words, "--bb-drain", "paced")["a"] == 4


def test_with_phases_it_leaves_before_the_next_one(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else pacing would hold back the jobs that need its space."""
    chain.tier = {**chain.tier, "granularity": "1"}
    words = early_results(chain)
    monkeypatch.chdir(chain.folder)
    plans: list[Any] = []
    planned: Callable[..., Any] = drain_files.plan_drain
    monkeypatch.setattr(
        explaining,
        "plan_drain",
        lambda *given: plans.append((given[1], planned(*given))) or None,
    )
    lives = lifetimes(*words, "--bb-drain", "paced", "--bb-capacity", "40B")
    assert lives["a"] == 2
    [(decision, plan)] = plans
    assert decision.placement.phases.count > 1
    dues = [flow.due for flow in plan.forecast.flows]
    assert dues[-1] is None
    assert dues[0] is not None and dues[0] < plan.forecast.end
    each = plan.forecast.windows(0.0)
    assert each[0].end <= dues[0] + 1e-6
