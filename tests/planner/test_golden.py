"""A whole submit directory, as files that a reviewer can read.

After a deliberate change:
    REFRESH_GOLDEN=1 python -m pytest tests/planner/test_golden.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.planner.builtin.write import files_of, top_files
from pegasus_bb.planner.runfiles import node_files, run_files
from tests.support.golden import REFRESHED, matches_golden

GOLDEN = Path(__file__).parent / "golden"


def planned_files(runner: Any, tmp_path: Path) -> dict[str, bytes]:
    decided, _ = runner.planning()
    executable = runner.plan()
    context = runner.context
    jobs = executable.jobs.values()
    files = dict(files_of(jobs, executable, context))
    files.update(top_files(executable, context, "submit.host"))
    few = run_files(executable, decided, context)
    for path, content in (*few, *node_files(executable, decided, context)):
        files[f"bb/{path}"] = content
    write_dag(executable.dag, tmp_path / "demo-0.dag")
    files["demo-0.dag"] = (tmp_path / "demo-0.dag").read_bytes()
    return files


@pytest.mark.parametrize("mode", ["off", "persistent"])
def test_a_three_job_workflow_is_planned_as_before(
    runner: Any, mode: str, tmp_path: Path
) -> None:
    if mode == "persistent":
        runner.persistent()
    compare(planned_files(runner, tmp_path), GOLDEN / mode)


def test_what_mode_hybrid_adds_to_mode_persistent(runner: Any, tmp_path: Path) -> None:
    runner.behind_slurm()
    runner.persistent(backend="datawarp")
    plain = planned_files(runner, tmp_path)
    runner.hybrid(backend="datawarp")
    files = planned_files(runner, tmp_path)
    assert plain.keys() <= files.keys()
    changed = {path: text for path, text in files.items() if plain.get(path) != text}
    compare(changed, GOLDEN / "hybrid")


def compare(files: dict[str, bytes], root: Path) -> None:
    if REFRESHED:
        for old in [p for p in root.rglob("*") if p.is_file()]:
            old.unlink()
    for path, content in files.items():
        matches_golden(content.decode(), root / path)
    golden = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file()]
    assert sorted(golden) == sorted(files), "some are made no more: REFRESH_GOLDEN=1"
