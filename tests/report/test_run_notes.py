"""The notes in bb/: what was staged, and which jobs worked on the PFS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import JobOnPfs, Run
from pegasus_bb.report.compare import compare
from pegasus_bb.report.page.reported import report_page
from pegasus_bb.report.render import render_text
from pegasus_bb.report.run_folder import read_run
from pegasus_bb.report.run_notes import (
    StagedOut,
    jobs_on_pfs,
    load_at_start,
    read_outcomes,
    staged_out,
)
from tests.report.sample_runs import a_run, a_task, record_text

Sides = tuple[list[Run], list[Run]]
WHY = "/nvme on n7 has 1.0 GiB free, and this job needs 2.0 GiB"
AWAY = JobOnPfs("mix_A", WHY, "n7", 1700000000.5)


def write(folder: Path, name: str, data: Any) -> Path:
    file = folder / "bb" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def line(lfn: str, size: object, time: float, uuid: str = "u1") -> str:
    return json.dumps({"lfn": lfn, "size": size, "time": time, "uuid": uuid}) + "\n"


class TestStaging:
    @pytest.mark.parametrize(
        ("manifest", "expected"),
        [
            (line("a", 10, 5) + line("b", 7, 9) + line("a", 12, 6), StagedOut(19, 9.0)),
            (line("a", 10, 5) + line("b", 7, 9, uuid="u2"), StagedOut(10, 5.0)),
            (line("a", 10, 5) + line("c", None, 9), StagedOut(10, 5.0)),
            (line("a", 10, 5) + '["d"]\n{"lfn": "e", "si', StagedOut(10, 5.0)),
        ],
        ids=["each result once", "another run", "no size", "torn"],
    )
    def test_results_are_those_of_the_manifest(
        self, tmp_path: Path, manifest: str, expected: StagedOut
    ) -> None:
        write(tmp_path, "request.json", {"uuid": "u1"})
        write(tmp_path, "manifest.jsonl", manifest)
        assert staged_out(tmp_path, read_outcomes(tmp_path)) == expected

    def test_results_of_a_job_reservation_count_once_they_are_back(
        self, tmp_path: Path
    ) -> None:
        for name, size in (("cat", 10), ("cut", 20)):
            note = {"files": {"a": {"size": size}}, "time": 8.0}
            write(tmp_path, f"stage_out/{name}.json", note)
        write(tmp_path, "stage_out/cut.wait.json", {"since": 1})
        assert staged_out(tmp_path, read_outcomes(tmp_path)) == StagedOut(10, 8.0)


@pytest.fixture
def submit_dir(tmp_path: Path) -> Path:
    """A run in which two jobs were to work on the disk of their node."""
    for node in ("mix_A", "mix_B"):
        write(tmp_path, f"nodes/{node}.json", {"reservation": {"capacity": 1}})
    write(tmp_path, "nodes/ID1.bbf", "#DW\n")
    (tmp_path / "00").mkdir()
    (tmp_path / "00/mix_A.sub").write_text("queue\n")
    (tmp_path / "00/mix_A.out.000").write_text(record_text())
    return tmp_path


def noted(folder: Path, because: str = WHY) -> Path:
    known = {"version": 1, "node": "mix_A", "job": "7.0", "because": because}
    return write(
        folder, "elsewhere/mix_A.json", {**known, "host": "n7", "time": 1700000000.5}
    )


class TestJobsOnThePfs:
    def test_a_run_lists_what_launch_has_noted(self, submit_dir: Path) -> None:
        noted(submit_dir)
        run = read_run(submit_dir)
        assert (run.jobs_on_pfs, run.job_reservations) == ((AWAY,), 2)
        assert run.problems == ()

    @pytest.mark.parametrize("text", ["{", "null", '{"because": "x"}'])
    def test_a_damaged_note_still_counts(self, submit_dir: Path, text: str) -> None:
        file = noted(submit_dir)
        file.write_text(text)
        (away,), (problem,) = jobs_on_pfs(submit_dir)
        assert away == JobOnPfs("mix_A", "launch's note of it cannot be read")
        assert problem.file == str(file)
        assert problem in read_run(submit_dir).problems

    @pytest.fixture
    def sides(self) -> Sides:
        known = {"mode": "transient", "job_reservations": 2, "jobs_on_pfs": (AWAY,)}
        return [a_run(a_task(), mode="off")], [a_run(a_task(), **known)]

    def test_text_and_page_name_them(self, sides: Sides) -> None:
        comparison = compare(*sides)
        lines = render_text(comparison).splitlines()
        named = next(n for n, each in enumerate(lines) if each.startswith("BB run 1: "))
        said = f"*** BB run 1: 1 OF 2 JOBS WERE ON THE PFS: {WHY} ***"
        assert lines[named + 1] == said
        (note,) = (n for n in comparison.warnings if "worked on the PFS" in n)
        assert note.startswith("BB run 1: 1 of 2 jobs with a place of their own")
        page = report_page({"": comparison})
        assert f"1 of 2 jobs really on the PFS (tier full): {WHY}" in page
        assert "worked on the PFS because the tier was full (mix_A)" in page


@pytest.mark.parametrize(
    ("note", "warned"),
    [
        ('{"load": [3.5, 1, 1], "cores": 2}', 1),
        ('{"load": [2, 1, 1], "cores": 2}', 0),
        ('{"load": [], "cores": 2}', 0),
        ("[", 0),
    ],
)
def test_a_run_on_a_busy_machine_is_warned_of(
    tmp_path: Path, note: str, warned: int
) -> None:
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb/load.json").write_text(note)
    run = a_run(load=load_at_start(tmp_path))
    found = [w for w in compare([run], []).warnings if "3.50 on 2 cores" in w]
    assert len(found) == warned
