"""The timeline: a color for each transformation, and queueing before the bar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pegasus_bb.model.run import Kind, NodeTimes, Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.page.charts import JOBS
from pegasus_bb.report.page.figure import Figure, Row
from pegasus_bb.report.page.runs import repetitions
from pegasus_bb.report.page.timeline import timeline
from pegasus_bb.report.run_clock import gate_wait
from tests.report.made import a_run, a_task


def rows_of(figure: Figure) -> list[Row]:
    return [row for chart in figure.charts for row in chart.spec["datasets"]["rows"]]


@pytest.fixture
def queued() -> Run:
    """Two jobs at once; one of them waited for two seconds."""
    return a_run(
        a_task("cat", node="cat_1", start=10.0, duration=5.0, queued=0.0),
        a_task("dog", node="dog_1", start=12.0, duration=5.0, queued=2.0),
        mode="off",
    )


def test_a_transformation_has_its_color_and_a_name_in_the_legend(queued: Run) -> None:
    figure = timeline(compare([queued], [queued]))
    assert figure.legend[:2] == ((JOBS[0], "cat"), (JOBS[1], "dog"))
    assert {row["what"] for row in rows_of(figure)} == {"cat", "dog"}


def test_queueing_is_drawn_lighter_from_when_it_began(queued: Run) -> None:
    figure = timeline(compare([queued], []))
    assert figure.legend[-1] == ("lighter", "lighter: queueing")
    (light, solid) = figure.charts[0].spec["layer"]
    assert light["mark"]["opacity"] < 0.5
    assert "opacity" not in solid["mark"]
    since = {row["node"]: (row["since"], row["start"]) for row in rows_of(figure)}
    assert since == {"cat_1": (0.0, 0.0), "dog_1": (0.0, 2.0)}
    assert len({row["lane"] for row in rows_of(figure)}) == 2


def test_of_clustered_tasks_the_first_one_queued(queued: Run) -> None:
    again = [replace(task, node="merged", queued=1.0) for task in queued.tasks]
    figure = timeline(compare([replace(queued, tasks=tuple(again))], []))
    assert [row["queued"] for row in rows_of(figure)] == [1.0, None]


def test_nothing_is_said_of_queueing_where_there_was_none(queued: Run) -> None:
    tasks = tuple(replace(task, queued=None) for task in queued.tasks)
    figure = timeline(compare([replace(queued, tasks=tasks)], []))
    assert [label for _, label in figure.legend] == ["cat", "dog"]
    assert len(figure.charts[0].spec["layer"]) == 1


@pytest.mark.parametrize(
    ("waited", "said"),
    [(2.0, "In whole seconds, as in jobstate.log: queueing."), (1.75, "on one axis.")],
)
def test_only_what_is_in_whole_seconds_is_said_to_be(
    queued: Run, waited: float, said: str
) -> None:
    cat, dog = queued.tasks
    run = replace(queued, tasks=(cat, replace(dog, queued=waited)))
    assert timeline(compare([run], [])).about.endswith(said)


@pytest.mark.parametrize(("fraction", "rounded"), [(0.0, True), (0.5, False)])
def test_a_wait_at_the_gate_is_exact_where_tasks_tell_the_fractions(
    fraction: float, rounded: bool
) -> None:
    gate = NodeTimes("create_dir_0", pre_started=10.0, pre_ended=12.0)
    setup = a_task(kind=Kind.BB_SETUP, start=9.0, duration=1.0 + fraction)
    begun = 12.0 + fraction * 1.5
    made = a_task(node="create_dir_0", kind=Kind.CREATE_DIR, start=begun)
    run = a_run(setup, made, nodes=(gate,), mode="persistent")
    run = replace(run, gate_wait=gate_wait(run))
    about = timeline(compare([], [run])).about
    assert ("the wait at the gate" in about) is rounded


def test_no_wait_at_the_gate_is_not_in_the_legend() -> None:
    gate = NodeTimes("create_dir_0", pre_started=10.0, pre_ended=10.0)
    made = a_task(node="create_dir_0", kind=Kind.CREATE_DIR, start=10.5)
    run = a_run(made, nodes=(gate,), mode="persistent", gate_wait=0.0)
    figure = timeline(compare([], [run]))
    assert "waiting at the gate" not in [label for _, label in figure.legend]


def test_many_transformations_share_the_last_color() -> None:
    tasks = [
        a_task(f"t{n:02}", node=f"n{n}", start=float(n), duration=1.0 + n)
        for n in range(len(JOBS) + 3)
    ]
    figure = timeline(compare([a_run(*tasks)], []))
    labels = [label for _, label in figure.legend]
    assert len(labels) == len(JOBS) + 1
    assert labels[-1] == "other transformations"
    assert "t00" not in labels  # it took least


def test_the_run_nearest_to_the_mean_is_drawn_and_named(queued: Run) -> None:
    pfs = [replace(queued, makespan=m) for m in (9.0, 5.5, 3.0)]
    one = replace(queued, makespan=4.0)
    found = compare(pfs, [one])
    assert found.typical("pfs") == ("PFS run 2", found.pfs[1])
    about = timeline(found).about
    assert "Drawn: PFS run 2 (5.50 s; mean 5.83 s), BB run 1." in about
    assert "Drawn" not in timeline(compare([one], [one])).about


def test_each_run_has_when_it_began(queued: Run) -> None:
    table = repetitions(compare([queued, queued], []))
    assert table.head[1::4] == ("began", "time in jobs")
    assert table.rows[0][1] == "1970-01-01 00:00:10 UTC"


def test_the_seconds_of_both_sides_are_on_one_axis(queued: Run) -> None:
    short = a_run(a_task("cat", start=0.0, duration=1.0))
    charts = timeline(compare([queued], [short])).charts
    ends = {str(chart.spec["layer"][-1]["encoding"]["x"]["scale"]) for chart in charts}
    assert len(ends) == 1


def test_jobs_that_queue_together_stand_in_the_order_of_their_starts() -> None:
    tasks = [
        a_task("cat", node=f"n{n}", start=10.0 + n, duration=4.0, queued=9.5 + n)
        for n in (0, 3, 1, 2)
    ]
    rows = rows_of(timeline(compare([a_run(*tasks)], [])))
    assert [(row["node"], row["number"]) for row in rows] == [
        (f"n{n}", n) for n in range(4)
    ]
