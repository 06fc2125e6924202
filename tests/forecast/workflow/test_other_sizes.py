"""What earlier runs took says nothing of a workload of another size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.history import History
from pegasus_bb.planner.simulations import check_workload
from tests.support.user_files import User

from .planned import MB, fan

THEN = {"in": 2 * MB, "mid": MB, "out1": 100_000}


@pytest.mark.parametrize(
    "run",
    [
        History(planned_sizes=THEN, source="submit/first"),
        History(brought=2 * MB, source="submit/first"),  # on the PFS, nothing declared
        History(others=(History(planned_sizes=THEN, source="submit/first"),)),
    ],
)
def test_a_larger_workload_is_not_forecast_from_a_smaller_run(
    tmp_path: Path, run: History
) -> None:
    given = User(tmp_path, jobs=fan(1)).given()
    with pytest.raises(UsageError, match=r" 1\d\d times .*submit/first.*--bb-history"):
        check_workload(replace(given, history=run))


@pytest.mark.parametrize(
    "run",
    [
        History(),
        History(planned_sizes={"other": 1}),
        History(planned_sizes={"in": 190 * MB, "mid": 100 * MB}),
        History(brought=210 * MB),
    ],
)
def test_the_same_workload_is(tmp_path: Path, run: History) -> None:
    check_workload(replace(User(tmp_path, jobs=fan(1)).given(), history=run))
