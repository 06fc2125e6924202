"""What earlier runs say of a whole run, and what each mode would take whichever is
planned."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.decide.place_files import place, with_capacity
from pegasus_bb.forecast.demands.demand import GROWTH
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.prediction import SCATTER, Prediction
from pegasus_bb.forecast.workflow.prediction_text import shown
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.modes import OFF
from pegasus_bb.planner.predicting import compare, mode_predictions
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
    assert (math.sqrt(found.low * found.high) == pytest.approx(100.0)) == decides
    assert ("slots are fewer" in remarks) != decides


def test_a_larger_run_says_its_time_or_less_as_it_is_larger(tmp_path: Path) -> None:
    """All of the time of a run with 1.25 times the bytes grows as they do, or none."""
    found, _ = of_mode_off(tmp_path, replace(TASK, sizes={"in": 1250}))
    assert found.makespan == pytest.approx(90.0)
    assert found.low < 80.0 < 100.0 < found.high


def test_a_run_with_many_more_tasks_does_not_say_how_long_all_takes(
    tmp_path: Path,
) -> None:
    more = {"ID0": Past(60.0), "ID1": Past(60.0)}
    found, remarks = of_mode_off(tmp_path, replace(TASK, jobs=more))
    assert found.high < 100.0
    assert "other numbers of tasks" in remarks


def test_a_run_of_which_some_files_grew_may_take_longer_as_these_did(
    tmp_path: Path,
) -> None:
    """1 GB that is the same, and a list of 2.5 times the bytes: the task may take 2.5
    times as long; all bytes together say 1."""
    run = replace(TASK, sizes={"in": 4000, "same": 10**9})
    (tmp_path / "speeds.yml").write_text(SPEEDS)
    uses = use("in", "input", **sized(10000)), use("same", "input", **sized(10**9))
    user = User(
        tmp_path,
        [job("ID0", *uses)],
        {"capacity": "1TiB"},
        defines=["pegasus.bb.speeds=speeds.yml"],
    )
    found = mode_predictions(replace(user.given(), history=run), None)
    assert found is not None
    off = found.of(OFF)
    assert off.low < 100 < 240 < off.high < 320
    assert GROWTH in off.causes
    same = replace(run, sizes={"in": 10000, "same": 10**9})
    found = mode_predictions(replace(user.given(), history=same), None)
    assert found is not None and found.of(OFF).high < 130


GB = 10**9
FOLDER = {"backend": "directory", "path": "/fast", "capacity": "auto"}
DISK = {"backend": "node-local", "path": "/fast"}
CHECKPOINT = job(
    "ID9", use("state", "checkpoint", **sized(GB)), use("end", "output", **sized(GB))
)


def pairs() -> list[dict[str, Any]]:
    """Four jobs that each make a file for another one."""
    found = []
    for n in range(4):
        made = use(f"made{n}", "output", stageOut=False, **sized(GB))
        result = use(f"result{n}", "output", **sized(1000))
        found += [job(f"ID{n}", made), job(f"ID{n}b", use(f"made{n}", "input"), result)]
    return found


def planned(
    folder: Path, jobs: list[dict[str, Any]], tier: dict[str, Any], *settings: str
) -> Compared:
    fast = SPEEDS.replace(f"bb: {RATES}", "bb: {read: 9GB/s, write: 9GB/s}")
    (folder / "speeds.yml").write_text(fast)
    properties = [f"pegasus.bb.{each}" for each in ("speeds=speeds.yml", *settings)]
    given = User(folder, jobs, tier, defines=properties).given()
    decision = place(given)
    found = compare(given, decision and with_capacity(given, decision))
    assert found is not None
    return found


@pytest.mark.parametrize("chains", ["off", "auto"])
def test_no_row_depends_on_the_mode_that_is_planned(
    tmp_path: Path, chains: str
) -> None:
    """A checkpoint is on the tier in all modes but transient."""
    jobs = [*pairs(), CHECKPOINT]
    found = [
        planned(tmp_path, jobs, FOLDER, f"mode={mode}", f"chains={chains}")
        for mode in ("persistent", "off", "transient", "hybrid")
    ]
    assert [each.modes for each in found[1:]] == [found[0].modes] * 3
    assert [each.choice for each in found[1:]] == [found[0].choice] * 3
    assert [each.refused for each in found] == [{}] * 4


def test_a_disk_that_is_not_reserved_and_one_refusal_are_said_once(
    tmp_path: Path,
) -> None:
    found = planned(tmp_path, pairs(), DISK, "mode=transient")
    said = "\n".join(shown(found))
    assert "preferred: off" in said
    assert "and it reserves" not in said
    assert "\npersistent, hybrid cannot be chosen: " in said
    assert "\npersistent (refused)  " in said and "\ntransient  " in said
    assert said.count("the disk of a node holds nothing") == 1


@pytest.mark.parametrize("mode", ["transient", "persistent", "auto"])
def test_the_row_of_transient_knows_chains(tmp_path: Path, mode: str) -> None:
    """Without them 1 GB goes to the PFS and back for each of four pairs of jobs."""
    said = (f"mode={mode}",)
    plain = row(planned(tmp_path, pairs(), FOLDER, *said), "transient")
    chained = row(planned(tmp_path, pairs(), FOLDER, *said, "chains=auto"), "transient")
    assert plain.makespan - chained.makespan == pytest.approx(4 * 2, abs=0.7)
    assert row(planned(tmp_path, pairs(), FOLDER, *said), "off").makespan > 8


def row(found: Compared, mode: str) -> Prediction:
    return next(each for each in found.modes if each.mode == mode)


@pytest.mark.parametrize(
    ("had_chains", "has_chains", "is_measured"),
    [(True, True, True), (True, False, False), (False, True, False)],
)
def test_a_run_calibrates_what_had_chains_as_it_had(
    tmp_path: Path, had_chains: bool, has_chains: bool, is_measured: bool
) -> None:
    (tmp_path / "speeds.yml").write_text(SPEEDS)
    chains = "auto" if has_chains else "off"
    wanted = ("speeds=speeds.yml", "mode=transient", f"chains={chains}")
    properties = [f"pegasus.bb.{each}" for each in wanted]
    given = User(tmp_path, pairs(), FOLDER, defines=properties).given()
    sizes = {f"made{n}": GB for n in range(4)}
    had = (2, 2, 2, 2) if had_chains else ()
    run = History(mode="transient", makespan=77.0, sizes=sizes, chains=had)
    given = replace(given, history=run)
    decision = place(given)
    assert decision is not None
    found = compare(given, with_capacity(given, decision))
    assert found is not None
    assert row(found, "transient").is_measured == is_measured


SMALL_TASKS = "task_bytes: [20KB, 3MB]"
LARGE_TASKS = "task_bytes: [500MB, 2GB]"
AS_FAST = "read: 9GB/s, write: 9GB/s"


def foreign(folder: Path, pfs: str, bb: str, *own: History) -> tuple[Compared, str]:
    """What is told of ``pairs``, by speeds learned from other workflows."""
    text = f"cluster: {{slots: 2, pfs: {{{pfs}}}, bb: {{{bb}}}}}"
    (folder / "speeds.yml").write_text(text)
    user = User(folder, pairs(), FOLDER, defines=["pegasus.bb.speeds=speeds.yml"])
    given = user.given()
    if own:
        given = replace(given, history=replace(own[0], others=own[1:]))
    found = compare(given, None)
    assert found is not None
    return found, "\n".join(shown(found))


PFS_SEEN = f"read: 1GB/s, write: 1GB/s, {LARGE_TASKS}"


def test_a_rate_that_nobody_measured_is_not_relied_on(tmp_path: Path) -> None:
    """A tier whose tasks were too small to tell its bytes/s; then a PFS."""
    fast = f"{AS_FAST}, {LARGE_TASKS}"
    found, _ = foreign(tmp_path, PFS_SEEN, fast)
    assert found.choice.mode == "persistent"
    bound = f"read: 25MB/s, write: 25MB/s, {LARGE_TASKS}, at_least: bytes"
    for pfs, bb, name in ((PFS_SEEN, bound, "bb"), (bound, fast, "pfs")):
        found, said = foreign(tmp_path, pfs, bb)
        assert found.choice.mode == "off"
        assert "is not surely more than 5% shorter" in said
        assert "--bb-history of a run on each side, without tries" in said
        assert f"the bytes a second of {name} were not measured" in said
        assert "23.8 MiB/s" in said


@pytest.mark.parametrize("tasks", [SMALL_TASKS, "task_bytes: [99GB, 100GB]"])
def test_rates_learned_from_unlike_tasks_are_not_relied_on(
    tmp_path: Path, tasks: str
) -> None:
    alike, said = foreign(tmp_path, PFS_SEEN, f"{AS_FAST}, {LARGE_TASKS}")
    assert "were learned from tasks" not in said
    found, said = foreign(tmp_path, PFS_SEEN, f"{AS_FAST}, {tasks}")
    assert said.count("the rates of bb were learned from tasks of") == 1
    assert found.choice.mode == "off"
    for wide, narrow in zip(found.modes[1:], alike.modes[1:], strict=True):
        assert wide.low < narrow.low <= narrow.high < wide.high


def test_the_makespan_of_a_run_with_failed_tries_does_not_count(
    tmp_path: Path,
) -> None:
    tasks = {each["id"]: Past(3.0) for each in pairs()}
    whole = History(jobs=tasks, makespan=40.0, sizes={"made0": GB}, source="a1")
    tried = replace(whole, makespan=None, had_retries=True)
    _, said = foreign(tmp_path, PFS_SEEN, AS_FAST, whole)
    assert "tries failed" not in said
    found, said = foreign(tmp_path, PFS_SEEN, AS_FAST, tried)
    assert "tries failed in a1: the times of tasks count, and the makespan" in said
    assert all(each.low < each.makespan < each.high for each in found.modes)
    assert SCATTER in said


def test_what_runs_of_the_workflow_show_is_not_widened(tmp_path: Path) -> None:
    tasks = {each["id"]: Past(3.0) for each in pairs()}
    on_pfs = History(jobs=tasks, makespan=40.0, sizes={"made0": GB})
    on_tier = replace(on_pfs, place="bb", mode="persistent", makespan=20.0)
    as_known, _ = foreign(tmp_path, PFS_SEEN, AS_FAST, on_pfs, on_tier)
    unlike = f"{SMALL_TASKS}, at_least: bytes"
    pfs, bb = f"read: 1GB/s, write: 1GB/s, {unlike}", f"{AS_FAST}, {unlike}"
    found, said = foreign(tmp_path, pfs, bb, on_pfs, on_tier)
    assert "were learned from" not in said
    assert "were not measured" not in said
    for mode, known in zip(found.modes, as_known.modes, strict=True):
        if mode.is_measured:
            assert mode.range == known.range


MB = 10**6
SLOW = "{read: 500KB/s, write: 500KB/s}"


def measured_on_one_side(folder: Path, *runs: History, rates: str = SLOW) -> Compared:
    """The forecast of equal storages, from runs of one task of 200 MB."""
    text = f"cluster: {{slots: 2, pfs: {rates}, bb: {rates}}}"
    (folder / "speeds.yml").write_text(text)
    made = use("made", "output", stageOut=False, **sized(200 * MB))
    defines = ["pegasus.bb.speeds=speeds.yml", "pegasus.bb.mode=persistent"]
    given = User(folder, [job("ID0", made)], FOLDER, defines=defines).given()
    given = replace(given, history=replace(runs[0], others=runs[1:]))
    decision = place(given)
    found = compare(given, decision and with_capacity(given, decision))
    assert found is not None
    return found


def one_side(mode: str, task: float = 5.0, makespan: float = 5.5) -> History:
    where = "pfs" if mode == "off" else "bb"
    pasts = {"ID0": Past(task, user=1.0)}
    return History(where, pasts, makespan=makespan, mode=mode, source="run1")


@pytest.mark.parametrize("rates", [SLOW, SLOW.replace("500KB", "5KB")])
@pytest.mark.parametrize("mode", ["off", "persistent"])
@pytest.mark.parametrize("runs", [1, 2])
def test_what_a_mode_took_less_than_simulated_is_no_gain_over_the_others(
    tmp_path: Path, rates: str, mode: str, runs: int
) -> None:
    found = measured_on_one_side(tmp_path, *[one_side(mode)] * runs, rates=rates)
    other = "persistent" if mode == "off" else "off"
    row = {each.mode: each for each in found.rows}
    assert row[other].low < row[mode].high, "as fast as the measured one was"
    assert row[other].high > 300, "or as declared"
    assert found.choice.mode == "off"
    said = "\n".join(shown(found))
    assert f"--bb-mode {other}, all else as here, and name it" in said
    assert "took less than simulated" in said


def test_runs_on_both_sides_decide_whatever_is_declared(tmp_path: Path) -> None:
    both = one_side("off", 9.0, 9.5), one_side("persistent")
    found = measured_on_one_side(tmp_path, *both)
    assert found.choice.mode == "persistent"
    assert found.rows == found.modes


def test_a_run_that_took_as_long_as_simulated_casts_no_doubt(tmp_path: Path) -> None:
    found = measured_on_one_side(tmp_path, one_side("off", 500.0, 501.0))
    assert found.rows == found.modes
