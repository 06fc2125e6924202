"""What earlier runs say of a whole run, besides the times of its tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.forecast.workflow.prediction import Prediction
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.modes import OFF
from pegasus_bb.planner.predictions import mode_predictions
from tests.support.user_files import User, job, sized, use

RATES = "{read: 1GB/s, write: 1GB/s}"
SPEEDS = f"cluster: {{slots: 2, pfs: {RATES}, bb: {RATES}}}"
TASK = History(jobs={"ID0": Past(60.0)}, makespan=100.0, sizes={"in": 1000})


def of_mode_off(folder: Path, *runs: History) -> tuple[Prediction, str]:
    """The prediction of mode off, and what is said of it."""
    (folder / "speeds.yml").write_text(SPEEDS)
    jobs = [job("ID0", use("in", "input", **sized(1000)))]
    user = User(
        folder, jobs, {"capacity": "1TiB"}, defines=["pegasus.bb.speeds=speeds.yml"]
    )
    history = replace(runs[0], others=runs[1:])
    found = mode_predictions(replace(user.given(), history=history), None)
    assert found is not None
    return found.of(OFF), " ".join(found.basis.remarks)


@pytest.mark.parametrize(("at_once", "decides"), [(None, True), (2, True), (3, False)])
def test_a_run_with_more_slots_does_not_say_how_long_all_takes(
    tmp_path: Path, at_once: int | None, decides: bool
) -> None:
    found, remarks = of_mode_off(tmp_path, replace(TASK, at_once=at_once))
    assert (found.high == pytest.approx(100.0)) == decides
    assert ("slots are fewer" in remarks) != decides


def test_several_runs_in_a_mode_are_a_range(tmp_path: Path) -> None:
    found, _ = of_mode_off(tmp_path, TASK, replace(TASK, makespan=120.0))
    assert found.makespan == pytest.approx(110.0)
    assert 80.0 < found.low < 100.0
    assert 120.0 < found.high < 145.0
