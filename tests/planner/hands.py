"""What tests of the built-in planner do again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.model.dag.htcondor_api import SubmitFile, read_submit
from pegasus_bb.planner.builtin.submit_files import SubmitFiles

Data = dict[str, Any]


def submit_text(runner: Any, node: str) -> str:
    planned = runner.plan()
    submits = SubmitFiles(planned, runner.context)
    return submits.text(planned.jobs[node])


def submit_of(runner: Any, node: str, tmp_path: Path) -> SubmitFile:
    """What HTCondor reads in the submit file of ``node``."""
    (tmp_path / "node.sub").write_text(submit_text(runner, node))
    return read_submit(tmp_path / "node.sub", {"RETRY": "0"})


def site(runner: Any) -> Data:
    found: Data = runner.sites["sites"][1]
    return found
