"""Jobs that worked on the PFS for want of room: read, listed, and never taken for jobs
on the tier."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.run import Elsewhere, Run, Task
from pegasus_bb.page import report_page
from pegasus_bb.report import compare, read_run, render_text, to_document
from pegasus_bb.report.elsewhere import elsewhere, rooms

WHY = "/nvme on n7 has 1.0 GiB free, and this job needs 2.0 GiB"
AWAY = Elsewhere("mix_A", WHY, "n7", 1700000000.5)


@pytest.fixture
def submit_dir(tmp_path: Path, record_text: Callable[..., str]) -> Path:
    """A run in which two jobs were to work on the disk of their node."""
    for node in ("mix_A", "mix_B"):
        write(tmp_path, f"nodes/{node}.json", {"reservation": {"capacity": 1}})
    (tmp_path / "bb/nodes/ID1.bbf").write_text("#DW\n")
    (tmp_path / "00").mkdir()
    (tmp_path / "00/mix_A.sub").write_text("queue\n")
    (tmp_path / "00/mix_A.out.000").write_text(record_text())
    return tmp_path


def write(folder: Path, name: str, data: Any) -> Path:
    file = folder / "bb" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data))
    return file


def noted(folder: Path, node: str, **more: Any) -> Path:
    known = {"version": 1, "node": node, "job": "7.0", "because": WHY, "host": "n7"}
    known = {**known, "time": 1700000000.5, **more}
    return write(folder, f"elsewhere/{node}.json", known)


def test_a_run_in_which_all_had_room(submit_dir: Path) -> None:
    assert elsewhere(submit_dir) == ((), ())
    assert rooms(submit_dir) == 2


def test_what_launch_has_noted_is_told(submit_dir: Path) -> None:
    noted(submit_dir, "mix_A")
    run = read_run(submit_dir)
    assert (run.elsewhere, run.rooms) == ((AWAY,), 2)
    assert run.problems == ()


def test_words_of_several_lines_are_one(submit_dir: Path) -> None:
    noted(submit_dir, "mix_A", because="no\n  room")
    assert elsewhere(submit_dir)[0][0].because == "no room"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"because": "x"}', '{"a": 1}']
)
def test_a_note_that_cannot_be_read_still_says_that_it_was_there(
    submit_dir: Path, text: str
) -> None:
    file = noted(submit_dir, "mix_A")
    file.write_text(text)
    (away,), (problem,) = elsewhere(submit_dir)
    assert away == Elsewhere("mix_A", "launch's note of it cannot be read")
    assert problem.file == str(file)
    assert problem in read_run(submit_dir).problems


def test_half_a_note_is_none(submit_dir: Path) -> None:
    noted(submit_dir, "mix_A").rename(submit_dir / "bb/elsewhere/.mix_A.json.abc.part")
    assert elsewhere(submit_dir) == ((), ())


class TestTheReport:
    @pytest.fixture
    def sides(
        self, a_task: Callable[..., Task], a_run: Callable[..., Run]
    ) -> tuple[list[Run], list[Run]]:
        bb = a_run(a_task(), mode="transient", rooms=2, elsewhere=(AWAY,))
        return [a_run(a_task(), mode="off")], [bb]

    def test_its_text_says_it_before_any_number(
        self, sides: tuple[list[Run], list[Run]]
    ) -> None:
        second, third = render_text(compare(*sides)).splitlines()[1:3]
        assert second.startswith("BB run 1: demo")
        assert third == f"*** BB run 1: 1 OF 2 JOBS WERE ON THE PFS: {WHY} ***"

    def test_its_notes_name_them(self, sides: tuple[list[Run], list[Run]]) -> None:
        (note,) = (n for n in compare(*sides).notes if "worked on the PFS" in n)
        assert note.startswith("BB run 1: 1 of 2 jobs with a place of their own")
        assert "(mix_A)" in note

    def test_its_json_has_all_of_them(self, sides: tuple[list[Run], list[Run]]) -> None:
        runs = to_document(compare(*sides))["runs"]
        assert (runs["pfs"][0]["rooms"], runs["pfs"][0]["on_pfs"]) == (0, [])
        said = {"node": "mix_A", "because": WHY, "host": "n7", "time": 1700000000.5}
        assert (runs["bb"][0]["rooms"], runs["bb"][0]["on_pfs"]) == (2, [said])

    def test_its_page_too(self, sides: tuple[list[Run], list[Run]]) -> None:
        page = report_page({"": compare(*sides)})
        assert f"1 of 2 jobs really on the PFS (no room): {WHY}" in page
        assert "worked on the PFS, for the tier had no room (mix_A)" in page
