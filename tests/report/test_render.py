"""The tables, as a reader sees them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.model.run import Kind, Problem, Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.render import render_text
from pegasus_bb.report.report_document import Comparison
from tests.report.sample_runs import a_run, a_task, logged_run
from tests.support.golden import matches_golden

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def pfs() -> Run:
    return a_run(
        a_task("individuals", duration=12.5, utime=8.0, stime=2.0, rchar=3 << 30),
        a_task("frequency", start=13.0, duration=0.75, wchar=None),
        a_task(
            "pegasus::transfer",
            **{"kind": Kind.STAGE_OUT, "start": 14.344, "duration": 0.031},
            utime=0.01,
        ),
        label="1000-genome",
        mode="off",
        submit_dir="demo/1000genome/pfs",
        makespan=15.0,
        span=14.375,
    )


@pytest.fixture
def bb() -> Run:
    return a_run(
        a_task("bb_setup", kind=Kind.BB_SETUP, duration=0.042, utime=0.03, stime=0.0),
        a_task(
            "individuals",
            **{"start": 1.5, "duration": 5.0, "rchar": 3 << 30},
            **{"utime": 3.5, "stime": 0.5},
        ),
        a_task("frequency", start=6.625, duration=0.5, utime=0.3, wchar=None),
        label="1000-genome",
        **{"mode": "persistent", "tier": "bb", "backend": "directory"},
        submit_dir="demo/1000genome/bb",
        makespan=8.0,
        span=7.125,
        gate_wait=1.0,
        **{"saved": 2 << 20, "footprint": 5 << 30},
    )


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_one_run_of_each_side(pfs: Run, bb: Run) -> None:
    text = render_text(compare([pfs], [bb]))
    matches_golden(text, GOLDEN / "one_run_each.txt")


def test_repetitions_with_their_errors(pfs: Run, bb: Run) -> None:
    again = a_run(
        a_task("individuals", duration=11.0, utime=8.0, stime=2.0, rchar=3 << 30),
        a_task("frequency", duration=0.5, wchar=None),
        label="1000-genome",
        submit_dir="demo/1000genome/pfs2",
        makespan=14.0,
        span=13.0,
    )
    text = render_text(compare([pfs, again], [bb, bb]))
    matches_golden(text, GOLDEN / "repetitions.txt")


def numbers(text: str) -> set[str]:
    """Every number and every mark of doubt of the tables, wherever it stands."""
    tables = text[text.index("workflow, seconds") : text.index("ratio: PFS to BB")]
    return set(re.findall(r"(?:\+-)?[0-9]+(?:\.[0-9]+)?[*?]?", tables))


@pytest.fixture
def scattered() -> Comparison:
    """Repetitions with long names, long numbers and errors in every column."""
    name = "laboratory::" + "very_long_transformation_" * 4

    def runs(seconds: float, mode: str) -> list[Run]:
        return [
            a_run(
                a_task(
                    name,
                    **{"duration": seconds * n, "rchar": n << 60, "wchar": n << 40},
                    **{"utime": 50000.0 + n, "stime": 10000.0 * n},
                ),
                mode=mode,
            )
            for n in (1, 2, 5)
        ]

    return compare(runs(123456.789, "off"), runs(98765.4321, "persistent"))


@pytest.mark.parametrize("width", [60, 100, 140])
@pytest.mark.parametrize("color", [False, True])
def test_no_digit_and_no_star_is_lost_in_a_narrow_terminal(
    scattered: Comparison, width: int, color: bool
) -> None:
    everything = numbers(render_text(scattered, width=500))
    text = plain(render_text(scattered, width=width, color=color))
    assert "1.25*" in everything
    assert numbers(text) == everything
    assert {"written", "system", "CPU", "ratio"} < set(text.split())


def test_a_path_is_never_folded() -> None:
    path = "/scratch/" + "long/" * 40 + "run0001"
    bad = Problem(f"{path}/cat_ID1.out.000", "torn")
    text = render_text(
        compare([a_run(a_task())], [a_run(submit_dir=path, problems=(bad,))])
    )
    assert f"unread: {path}/cat_ID1.out.000: torn" in text.splitlines()


def test_tables_wider_than_the_page_lose_no_digit() -> None:
    """Long runs with their logs, repeated: rich would crop what does not fit."""

    def longer(side: str, times: float) -> Run:
        run = logged_run(side)
        tasks = [
            task._replace(
                duration=task.duration * times,
                utime=(task.utime or 0) * times,
                stime=(task.stime or 0) * times,
            )
            for task in run.tasks
        ]
        return replace(run, tasks=tuple(tasks))

    pfs, bb = ([longer(side, n * 1e9) for n in (1.0, 1.7)] for side in ("pfs", "bb"))
    everything = render_text(compare(pfs, bb), width=500)
    assert numbers(render_text(compare(pfs, bb))) == numbers(everything)
