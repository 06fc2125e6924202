"""All policies on one load: what holds for every load, and what a person is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_lab.flash.device_timeline import slowdown
from pegasus_bb_lab.flash.flash_study import study, to_policies
from pegasus_bb_lab.model.flash_device import FlashInput

from lab.tests.flash.loads import users, workflows


def nothing(done: int, of: int) -> None:
    pass


@pytest.fixture(params=["users", "workflows"])
def wanted(tmp_path: Path, request: pytest.FixtureRequest) -> FlashInput:
    return users(tmp_path) if request.param == "users" else workflows(tmp_path)


def test_every_policy_has_an_outcome_for_each_seed(wanted: FlashInput) -> None:
    heard: list[tuple[int, int]] = []
    found = study(wanted, range(2), lambda done, of: heard.append((done, of)))
    assert list(found.outcomes) == list(to_policies(wanted))
    count = 2 * len(found.outcomes)
    assert heard == [(done, count) for done in range(1, count + 1)]
    assert found.waf("legacy") > 1.1  # else there is nothing to see
    for runs in found.outcomes.values():
        for run in runs:
            assert run.waf >= 1
            assert run.bandwidth == pytest.approx(2 * 2**26 / slowdown(run.waf))
            assert sum(stream.share for stream in run.streams) == pytest.approx(1)
            assert all(stream.waf is None or stream.waf >= 1 for stream in run.streams)
            worn = run.host_writes_per_day * run.waf
            assert run.flash_writes_per_day == pytest.approx(worn)


def test_streams_by_workflow_or_lifetime_copy_less_than_none(tmp_path: Path) -> None:
    found = study(workflows(tmp_path), range(3), nothing)
    legacy = found.waf("legacy")
    assert found.waf("lifetime, sigma 0") < found.waf("lifetime, sigma 0.5") < legacy
    assert found.waf("workflow") < legacy
    assert found.waf("cohort") < legacy


def test_auto_is_the_lowest_that_needs_no_more_than_is_known(
    wanted: FlashInput,
) -> None:
    found = study(wanted, range(2), nothing)
    for error in wanted.errors:
        best = found.auto(error)
        known = [name for name in found.outcomes if "sigma" not in name]
        allowed = {
            *known,
            *(f"{name}, sigma {error:g}" for name in ("lifetime", "death")),
        }
        assert best in allowed - {"pools"}
        assert found.waf(best) == min(map(found.waf, allowed - {"pools"}))
