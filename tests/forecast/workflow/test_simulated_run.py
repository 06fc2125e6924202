"""A simulated Run is a Run: what reads measured ones reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.forecast.workflow.simulated_run import run_of
from pegasus_bb.forecast.workflow.simulator import demands_of
from pegasus_bb.model.history import Startup
from pegasus_bb.model.modes import PERSISTENT
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.render import render_text
from pegasus_bb.report.tables import PLAIN, tables

from .planned import MB, fan, planned, speeds

STARTUP = Startup(queue=0.0, job=1.0, own=2.0)
WAIT = 30.0


def simulated(folder: Path, *modes: str, seed: int = 0) -> list[Run]:
    simulator, placement = planned(
        folder, fan(3), speeds(2), cleanup="inplace", startup=STARTUP, wait=WAIT
    )
    made = {
        "off": lambda: simulator.off(placement),
        "persistent": lambda: simulator.shared(placement, PERSISTENT),
        "transient": lambda: simulator.transient(placement, lambda need: need),
    }
    demands = demands_of(simulator.planned.work, seed)
    found = []
    for name in modes:
        mode = made[name]()
        done = simulator.execute(mode, demands)
        found.append(run_of("w", mode, done, "cluster"))
    return found


def test_a_simulated_run_has_every_task_and_what_the_planner_adds(
    tmp_path: Path,
) -> None:
    (run,) = simulated(tmp_path, "persistent")
    kinds = [task.kind for task in run.tasks]
    assert kinds.count(Kind.COMPUTE) == 4
    assert kinds[:2] == [Kind.BB_SETUP, Kind.CREATE_DIR]
    assert kinds[-1] is Kind.BB_DELETE
    assert {Kind.STAGE_IN, Kind.STAGE_OUT, Kind.CLEANUP} < set(kinds)
    assert run.simulated and run.mode == "persistent" and run.gate_wait == WAIT
    assert run.makespan == pytest.approx(run.tasks[-1].end)
    assert (run.brought, run.saved) == (200 * MB, 30 * MB)


def test_the_report_makes_its_tables_of_it(tmp_path: Path) -> None:
    off, bb = simulated(tmp_path, "off", "persistent")
    found = compare([off], [bb])
    text = render_text(found)
    assert text.count("(simulated)") == len(tables(found, PLAIN)) > 3
    assert "PFS run 1: w, simulated, mode off" in text
    assert "kernel" not in text
    document = to_document(found)
    assert document["runs"]["bb"][0]["simulated"] is True
    clock = document["runs"]["bb"][0]["clock"]
    assert clock["gate_wait"] == WAIT
    assert sum(clock.values()) == pytest.approx(bb.makespan)


def test_a_simulation_tells_no_difference_that_is_within_its_error(
    tmp_path: Path,
) -> None:
    (off,) = simulated(tmp_path, "off")
    bb = replace(off, mode="persistent", tier="bb", makespan=off.makespan * 0.98)
    found = compare([off], [bb])
    assert "about as long, within 5%" in found.headline
    assert found.break_even and "no break-even" in found.break_even.sentences[0]
    assert found.break_even.footprint is None
