"""How a run was planned: the command that plans it again, and files edited since."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pegasus_bb.planner.planned_by import PLANNED_BY, PlanningCommand


@pytest.mark.parametrize(
    ("argv", "again"),
    [
        (
            "plan --bb-capacity 1MiB --sites c w.yml",
            "plan --bb-capacity=8MiB --sites c w.yml",
        ),
        ("plan --bb-capacity=1MiB w.yml", "plan --bb-capacity=8MiB w.yml"),
        (
            "plan --relative-submit-dir r w.yml",
            "plan --force --bb-capacity=8MiB --relative-submit-dir r w.yml",
        ),
        ("explain w.yml", ""),
    ],
)
def test_a_new_capacity_takes_the_place_of_the_old_one(argv: str, again: str) -> None:
    command = PlanningCommand("/my work", tuple(argv.split()))
    wanted = f"cd '/my work' && pegasus-bb {again}" if again else ""
    assert command.again("8MiB") == wanted


def test_only_files_that_were_written_since_are_changed(tmp_path: Path) -> None:
    kept = tmp_path / "sites.yml"
    edited = tmp_path / "workflow.yml"
    for file in (kept, edited):
        file.write_text("x")
    stamps = {str(f): [1, f.stat().st_mtime_ns] for f in (kept, edited)}
    noted = {"cwd": "/", "argv": ["plan"], "read": stamps}
    (tmp_path / PLANNED_BY).write_text(json.dumps(noted))
    command = PlanningCommand.of_run(tmp_path)
    assert command.changed() == []
    os.utime(edited, ns=(0, 7))
    assert command.changed() == [str(edited)]


def test_a_run_of_an_older_version_has_no_command(tmp_path: Path) -> None:
    command = PlanningCommand.of_run(tmp_path)
    assert (command.again(), command.changed()) == ("", [])
