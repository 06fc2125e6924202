"""A simulated Run is a Run: what reads measured ones reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.forecast.workflow.simulated_run import run_of
from pegasus_bb.forecast.workflow.simulator import demands_of
from pegasus_bb.forecast.workflow.waiting_times import waits_of
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.model.start_overhead import Startup
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
        "persistent": lambda: simulator.shared(placement, "persistent"),
        "transient": lambda: simulator.transient(placement, lambda need: need),
    }
    demands = demands_of(simulator.planned.work, seed)
    found = []
    for name in modes:
        mode = made[name]()
        done = simulator.execute(mode, demands)
        found.append(run_of("w", mode, done, "cluster"))
    return found


def test_it_has_every_task_and_what_the_planner_adds(tmp_path: Path) -> None:
    (run,) = simulated(tmp_path, "persistent")
    kinds = [task.kind for task in run.tasks]
    assert kinds.count(Kind.COMPUTE) == 4
    assert kinds[:2] == [Kind.BB_SETUP, Kind.CREATE_DIR]
    assert kinds[-1] is Kind.BB_DELETE
    assert {Kind.STAGE_IN, Kind.STAGE_OUT, Kind.CLEANUP} < set(kinds)
    assert run.simulated and run.mode == "persistent" and run.gate_wait == WAIT
    assert run.makespan == pytest.approx(run.tasks[-1].end)
    assert (run.brought, run.saved) == (200 * MB, 30 * MB)


def test_live_bytes_come_and_go(tmp_path: Path) -> None:
    """Nothing is left at the end, never more than all files; the input goes when its
    reader has ended."""
    (run,) = simulated(tmp_path, "persistent")
    assert run.live is not None
    sizes = [size for _, size in run.live.steps]
    assert sizes[0] == 200 * MB and sizes[-1] == 0
    assert 300 * MB <= max(sizes) <= 330 * MB
    assert run.live.capacity == 1000 * MB and run.live.unknown == 0
    (since, capacity), (until, none) = run.live.reserved
    assert (capacity, none) == (1000 * MB, 0)
    assert run.reserved == pytest.approx(capacity * (until - since) / 3600)


def test_a_transient_run_has_the_bytes_of_its_jobs(tmp_path: Path) -> None:
    (run,) = simulated(tmp_path, "transient")
    assert run.live is None and run.gate_wait is None
    assert run.live_job_reservations is not None
    assert run.live_job_reservations.steps[-1][1] == 0
    assert run.job_reservations == 4


def test_the_report_makes_its_tables_of_it(tmp_path: Path) -> None:
    off, bb = simulated(tmp_path, "off", "persistent")
    found = compare([off], [bb])
    text = render_text(found)
    assert text.count("(simulated)") == len(tables(found, PLAIN)) > 3
    assert "PFS run 1: w, simulated, mode off" in text
    document = to_document(found)
    assert document["runs"]["bb"][0]["simulated"] is True
    clock = document["runs"]["bb"][0]["clock"]
    assert clock["gate_wait"] == WAIT
    assert sum(clock.values()) == pytest.approx(bb.makespan)


def test_every_figure_of_the_page_is_marked(tmp_path: Path) -> None:
    page = pytest.importorskip("pegasus_bb.report.page")
    off, bb = simulated(tmp_path, "off", "persistent")
    text = page.report_page({"persistent": compare([off], [bb])})
    assert text.count("<caption>") == text.count("(simulated)</caption>") > 5
    titles = [x for x in text.splitlines() if x.startswith('<p class="chart-title">')]
    assert titles and all("simulated</p>" in x.replace(")", "") for x in titles)
    assert text.count('<div class="chart"') == len(titles)


def test_the_same_seed_draws_the_same_run(tmp_path: Path) -> None:
    def drawn(seed: int) -> Run:
        return simulated(tmp_path, "off", seed=seed)[0]

    assert drawn(3) == drawn(3)
    assert len({drawn(seed).makespan for seed in (0, 1, 2)}) == 3


def test_who_waits_for_what(tmp_path: Path) -> None:
    """Three readers on two slots: one waits for the first of the others to end."""
    simulator, placement = planned(
        tmp_path, fan(3), speeds(2), startup=STARTUP, delivered=False
    )
    mode = simulator.shared(placement, "persistent")
    done = simulator.execute(mode, demands_of(simulator.planned.work, 0))
    work = next(each for each in waits_of(mode, done) if each.name == "work")
    assert (work.jobs, work.starting, work.computing) == (4, 4.0, 240.0)
    assert work.slot == pytest.approx(1 + 60 + 110 / 200)
    assert work.storage == pytest.approx(300 / 200 + 3 * 110 / 200)
