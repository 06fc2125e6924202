"""What pegasus-plan wrote is read while it still makes its databases."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.document import Document
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.pegasus.reading import Reader

RECORDED = Path(__file__).parent.parent / "recorded" / "pegasus-5.1.2" / "clustered"
REQUEST = Request("wfres", "datawarp", 1, "/bb/wfres", "uuid", "bb", "cori")
CONTEXT = PlanContext(
    "demo", "u", "", "uuid", Path(), Path(), "u/demo", "cori", "local", None, "leaf", ()
)


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    shutil.copytree(RECORDED, tmp_path / "r")
    said = 'dag: "demo-0.dag"\nplanner_version: "5.1.2"\n'
    (tmp_path / "r" / "braindump.yml").write_text(said)
    return tmp_path / "r"


def reader_of(folder: Path) -> Reader:
    workflow = Workflow(Document(Path(), {}), "demo", {}, {})
    return Reader(replace(CONTEXT, submit_dir=folder), REQUEST, workflow)


def test_it_is_read_when_the_dag_stands_and_not_again(planned: Path) -> None:
    reader = reader_of(planned)
    reader.begin(lambda: False)
    for file in planned.rglob("*.sub"):
        file.unlink()  # a second reading would miss them
    assert reader.found().scratch.startswith("/bb/wfres/")


def test_a_dag_that_was_written_again_is_read_again(planned: Path) -> None:
    reader = reader_of(planned)
    reader.begin(lambda: False)
    with (planned / "demo-0.dag").open("a") as dag:
        dag.write("RETRY create_dir_demo_0_cori 7\n")
    assert reader.found().dag.nodes["create_dir_demo_0_cori"].retry == 7


def test_a_version_that_was_half_written_is_read_again(planned: Path) -> None:
    said = planned / "braindump.yml"
    whole = said.read_text()
    said.write_text("dag: demo-0.dag\nplanner_version: 5.1")
    reader = reader_of(planned)
    reader.begin(lambda: False)
    said.write_text(whole)
    assert reader.found().outcome.version == "5.1.2"


def test_nothing_is_read_before_the_dag_stands(planned: Path) -> None:
    (planned / "demo-0.dag").rename(planned / "demo-0.dag.tmp")
    reader, looks = reader_of(planned), iter((False, False, True))
    reader.begin(lambda: next(looks))
    (planned / "demo-0.dag.tmp").rename(planned / "demo-0.dag")
    assert reader.found().missing


def test_what_is_wrong_early_is_said_in_the_end(planned: Path) -> None:
    (planned / "demo-0.dag").write_text("NONSENSE\nJOB\n")
    reader = reader_of(planned)
    reader.begin(lambda: False)
    with pytest.raises(CatalogError, match="JOB needs a name"):
        reader.found()


def test_a_planner_that_leaves_no_dag_is_told_of(planned: Path) -> None:
    (planned / "demo-0.dag").unlink()
    reader = reader_of(planned)
    reader.begin(lambda: True)
    with pytest.raises(CatalogError, match=r"left no \.dag"):
        reader.found()
