"""`make bench-fidelity` forecasts what others published and recorded, and says what it
leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fidelity_cases import Choice, Forecast, goals
from benchmarks.fidelity_published import ROWS, of_papers
from benchmarks.fidelity_traces import WHERE, of_traces


def trace(folder: Path, name: str, makespan: float, tasks: int = 4) -> None:
    """As WfCommons has it."""
    ids = [f"work_ID{number}" for number in range(tasks)]
    files = [{"id": f"{ident}.out", "sizeInBytes": 1000} for ident in ids]
    planned = [{"id": ident, "outputFiles": [f"{ident}.out"]} for ident in ids]
    done: list[dict[str, Any]] = [
        {"id": i, "runtimeInSeconds": 5.0, "command": {"program": "w"}} for i in ids
    ]
    execution = {
        "makespanInSeconds": makespan,
        "tasks": done,
        "machines": [{"cpu": {"coreCount": 2}}],
    }
    specification = {"tasks": planned, "files": files}
    data = {"workflow": {"specification": specification, "execution": execution}}
    (folder / f"{name}.json").write_text(json.dumps(data))


def test_published_pairs_are_forecast(tmp_path: Path) -> None:
    found = list(of_papers(tmp_path))
    forecasts = [each for each in found if isinstance(each, Forecast)]
    assert len(forecasts) == len(ROWS)
    assert all(all(each.inside) and each.high < 3 * each.low for each in forecasts)
    said = [each for each in found if isinstance(each, str)]
    assert sum("left out" in line for line in said) == 2
    assert sum("one run settles it" in line for line in said) == 4


def test_a_recorded_run_is_forecast_from_those_of_about_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHERE, str(tmp_path))
    trace(tmp_path, "app-chameleon-small-001", 100)
    trace(tmp_path, "app-chameleon-small-002", 110)
    trace(tmp_path, "app-chameleon-large-001", 900, tasks=40)
    trace(tmp_path, "other-chameleon-small-003", 5000)
    first, second, left_out = of_traces(tmp_path / "work")
    assert isinstance(first, Forecast)
    assert isinstance(second, Forecast)
    assert first.low < 110 < first.high < 150
    assert second.low < 100 < second.high
    assert "2 of 4 left out" in str(left_out)


def test_without_traces_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WHERE, str(tmp_path))
    (said,) = of_traces(tmp_path)
    assert WHERE in str(said)


def test_goals_are_those_of_all_runs_and_choices() -> None:
    near = Forecast("near", 90, 110, [100, 120])
    far = Forecast("far", 10, 11, [20])
    slow = Choice("slow", "off", "", 0.2, error=0.1)
    in_doubt = Choice("in doubt", "off", "", 0.2, error=0.16)
    assert Choice("open", "off", "one run settles it: ...", 0.9, error=0.1).is_right
    met = dict(goals([near, near], [far], [in_doubt]))
    assert [is_met for _, is_met in met.items()] == [
        True,
        False,
        True,
        False,
        True,
        True,
    ]
    met = dict(goals([near, far], [], [slow]))
    assert [is_met for _, is_met in met.items()] == [False, False, False, True, False]
