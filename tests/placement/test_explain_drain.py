"""What explain says of pacing comes from the forecast that planning has made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.explain import command
from pegasus_bb.planner import drain
from tests.placement.user_files import User

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
    simulated: Callable[[Any], Any] = drain.forecast
    monkeypatch.setattr(
        drain, "forecast", lambda given: forecasts.append(given) or simulated(given)
    )
    words = ["--bb-mode", "persistent", "--bb-speeds", "speeds.yml"]
    words += ["--sites", "cluster", "--output-dir", "out"]
    for how in ("paced", "now"):
        forecasts.clear()
        shown = CliRunner().invoke(command, [*words, "--bb-drain", how])
        assert "draining: " in shown.output
        assert len(forecasts) == 1
