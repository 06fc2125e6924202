"""What pegasus-plan wrote is read when it has ended."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.planner.pegasus.read_submit_dir import PegasusWorkflow, read_planned
from pegasus_bb.planner.run_plan import RunPlan
from tests.planner.sealing import RECORDED, request

CONTEXT = RunPlan(
    "demo",
    "u",
    "",
    "uuid",
    Path(),
    Path(),
    "u/demo",
    "cori",
    "local",
    None,
    "leaf",
    (),
    request=request(),
)


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED / "clustered", tmp_path / "r")
    said = 'dag: "demo-0.dag"\nplanner_version: "5.1.2"\n'
    (tmp_path / "r" / "braindump.yml").write_text(said)
    return tmp_path / "r"


def read(folder: Path) -> PegasusWorkflow:
    return read_planned(replace(CONTEXT, submit_dir=folder))


def test_a_planner_that_leaves_no_dag_is_an_error(planned: Path) -> None:
    (planned / "demo-0.dag").unlink()
    with pytest.raises(CatalogError, match=r"left no \.dag"):
        read(planned)
