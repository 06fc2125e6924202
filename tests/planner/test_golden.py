"""A whole submit directory, as files that a reviewer can read.

After a deliberate change:
    REFRESH_GOLDEN=1 python -m pytest tests/planner/test_golden.py
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.planner.builtin.write import files_of, top_files
from pegasus_bb.planner.runfiles import node_files, run_files

GOLDEN = Path(__file__).parent / "golden"
REFRESH = bool(os.environ.get("REFRESH_GOLDEN"))


def planned_files(runner: Any, tmp_path: Path) -> dict[str, bytes]:
    decided, rewritten = runner.planning()
    executable = runner.plan()
    context = runner.context
    jobs = executable.jobs.values()
    files = dict(files_of(jobs, executable, rewritten, context))
    files.update(top_files(executable, rewritten, context, "submit.host"))
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
    if REFRESH:
        for old in [p for p in root.rglob("*") if p.is_file()]:
            old.unlink()
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
    golden = {str(p.relative_to(root)): p for p in root.rglob("*") if p.is_file()}
    assert sorted(files) == sorted(golden)
    for path, content in files.items():
        assert content.decode() == golden[path].read_text(), path
