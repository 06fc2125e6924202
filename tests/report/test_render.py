"""The tables, as a reader sees them. Refresh: PEGASUS_BB_GOLDEN=write pytest."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.model.run import Calls, FileUse, Kind, Layer, Problem, Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.render import WIDTH, render_text
from pegasus_bb.report.report_document import Comparison
from pegasus_bb.report.run_folder import read_run
from tests.report.made import LOGGED, a_run, a_task

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


def matches(text: str, name: str) -> None:
    path = GOLDEN / name
    if os.environ.get("PEGASUS_BB_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_one_run_of_each_side(pfs: Run, bb: Run) -> None:
    matches(render_text(compare([pfs], [bb])), "one_run_each.txt")


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
    matches(text, "repetitions.txt")


def test_off_a_terminal_the_text_is_plain(pfs: Run, bb: Run) -> None:
    text = render_text(compare([pfs], [bb]))
    assert text.isascii()
    assert "\x1b" not in text


def test_on_a_terminal_heads_stand_out(pfs: Run, bb: Run) -> None:
    assert "\x1b[1m" in render_text(compare([pfs], [bb]), color=True)


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


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("color", [False, True])
def test_no_digit_and_no_star_is_lost_in_a_narrow_terminal(
    scattered: Comparison, width: int, color: bool
) -> None:
    everything = numbers(render_text(scattered, width=500))
    text = plain(render_text(scattered, width=width, color=color))
    assert "1.25*" in everything
    assert numbers(text) == everything
    assert {"written", "system", "CPU", "ratio"} < set(text.split())


def test_a_ratio_without_an_error_is_marked(pfs: Run, bb: Run) -> None:
    once, twice = compare([pfs], [bb]), compare([pfs, pfs], [bb, bb])
    assert " 1.88?" in render_text(once)
    assert "?: one value on a side, so the error is unknown." in render_text(once)
    assert " 1.88\n" in render_text(twice)
    assert not re.search(r"\d\?", render_text(twice))


def test_a_difference_beyond_the_error_is_not_rounded_away() -> None:
    pfs, bb = ([a_run(a_task(duration=d))] * 2 for d in (124.9, 125.0))
    assert " 0.9992 " in render_text(compare(pfs, bb))


def test_off_a_terminal_lines_are_those_of_a_page(scattered: Comparison) -> None:
    assert max(map(len, render_text(scattered).splitlines())) <= WIDTH


def test_jobs_and_files_that_differ_most_come_first_and_not_all_of_them() -> None:
    def run(seconds: float) -> Run:
        layer = Layer("POSIX", 9, 9, 2, seconds, 1.0, 1.0, seconds, 1.0, 1.0)
        files = tuple(
            FileUse(f"f{n}", f"/f{n}", layers=(replace(layer, seconds=seconds * n),))
            for n in range(1, 12)
        )
        return a_run(
            *(a_task(job=f"ID{n}", duration=seconds * n) for n in range(1, 12)),
            a_task(job="ID99", files=files),
        )

    text = render_text(compare([run(2.0)], [run(1.0)]))
    assert "jobs: the 8 of 12 that differ most; --json has all." in text
    assert "files: the 8 of 11 whose calls took longest; --json has all." in text
    assert text.index("ID11") < text.index("ID10")
    assert text.index("f11") < text.index("f10")
    assert not {"(ID1)", "(ID99)", "f1"} & set(text.split())


def test_the_two_names_of_a_job_read_as_one() -> None:
    def run() -> Run:
        three = (("count", "even"), ("count", "odd"), ("split", "split"))
        return a_run(*(a_task(name, job=job) for name, job in three))

    text = render_text(compare([run()], [run()]))
    words = [line.split()[:2] for line in text[text.index(" jobs ") :].splitlines()]
    for name in ("(even)", "(odd)"):
        at = words.index([name, "BB"])
        assert words[at - 1] == ["count", "PFS"]
    assert ["split", "PFS"] in words
    assert "(split)" not in text


def test_darshans_tables_keep_to_a_page() -> None:
    pfs, bb = (read_run(LOGGED / side) for side in ("pfs", "bb"))
    text = render_text(compare([pfs, bb], [bb, pfs]))
    tables = text[text.index("workflow, seconds") :]
    assert max(map(len, tables.splitlines())) <= WIDTH
    assert {"(POSIX)", "(MPI-IO)", "fx.sgt", "slowest"} <= set(tables.split())


def test_a_small_number_is_no_zero() -> None:
    text = render_text(compare([a_run(a_task(duration=0.00123))], [a_run(a_task())]))
    assert " 0.0012 " in text


def test_waiting_that_the_kernel_counted_is_called_so() -> None:
    counted = a_run(a_task(iowait=0.125))
    derived = a_run(a_task())
    assert " I/O wait " in render_text(compare([counted], [counted]))
    text = render_text(compare([derived], [counted]))
    assert " off CPU " in text
    assert "I/O wait" not in text.split("note:")[0]


def test_a_path_is_never_folded() -> None:
    path = "/scratch/" + "long/" * 40 + "run0001"
    bad = Problem(f"{path}/cat_ID1.out.000", "torn")
    text = render_text(
        compare([a_run(a_task())], [a_run(submit_dir=path, problems=(bad,))])
    )
    assert f"unread: {path}/cat_ID1.out.000: torn" in text.splitlines()


def test_names_in_brackets_are_not_taken_for_markup() -> None:
    run = a_run(a_task("[bold]cat"), submit_dir="run[red]1")
    text = render_text(compare([run], [run]))
    assert "[bold]cat" in text
    assert "run[red]1" in text


def test_a_log_of_one_task_brings_two_columns() -> None:
    pfs = a_run(a_task(calls=Calls(3 << 20, 1 << 20, 2.0)))
    bb = a_run(a_task(calls=Calls(3 << 20, 1 << 20, 0.5)))
    logged = render_text(compare([pfs], [bb]))
    bare = render_text(compare([a_run(a_task())], [a_run(a_task())]))
    assert "in calls" not in bare
    assert "  2.00   2.0 MiB " in logged
    assert "  0.50   8.0 MiB " in logged
    assert " 4.00?           " in logged  # of rates no ratio: more is better
