"""pegasus-bb sizes: what an earlier run has shown becomes metadata of the workflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from pegasus_bb.cli import cli

WORKFLOW = """\
pegasus: "5.0"
name: two
jobs:
  - type: job
    id: a
    name: a
    uses:
      - {lfn: in.txt, type: input, size: 7}
      - {lfn: out.txt, type: output}
      - {lfn: never.txt, type: output, metadata: {note: kept}}
"""


RECORD = """\
- invocation: True
  version: 3.0
  recorder: "pegasus_bb"
  start: 2026-01-01T00:00:00.000+00:00
  duration: 0.043
  transformation: "a"
  derivation: "a"
  resource: "cluster"
  mainjob:
    start: 2026-01-01T00:00:00.000+00:00
    duration: 0.042
    usage: {utime: 0.018, stime: 0.000}
    status: {raw: 0, regular_exitcode: 0}
    executable: {file_name: "/bin/a"}
  cwd: "/scratch"
  files:
    "in.txt": {lfn: "in.txt", file_name: "/scratch/in.txt", size: 9}
    "out.txt": {lfn: "out.txt", file_name: "/scratch/out.txt", size: 4096, output: True}
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A submit directory with the record of one task."""
    (tmp_path / "submit").mkdir()
    (tmp_path / "submit" / "a_a.out.000").write_text(RECORD)
    return tmp_path / "submit"


def say(*words: object) -> Result:
    return CliRunner().invoke(cli, ["sizes", *map(str, words)])


def test_the_table_and_the_json(run: Path) -> None:
    lines = say(run).output.splitlines()
    assert lines[0].split() == ["LFN", "size", "bytes"]
    assert ["out.txt", "4.0", "KiB", "4096", "B"] in [line.split() for line in lines]
    assert json.loads(say(run, "--json").output) == {"in.txt": 9, "out.txt": 4096}


def test_a_workflow_gets_the_sizes_that_it_lacks(run: Path, tmp_path: Path) -> None:
    workflow = tmp_path / "workflow.yml"
    sized = tmp_path / "sized.yml"
    workflow.write_text(WORKFLOW)
    done = say(run, "--workflow", workflow, "--output", sized)
    assert done.exit_code == 0, done.output
    assert "sizes of 1 file added" in done.output
    assert "not in the records: never.txt" in done.output
    read, made, never = yaml.safe_load(sized.read_text())["jobs"][0]["uses"]
    assert read == {"lfn": "in.txt", "type": "input", "size": 7}
    assert made["metadata"] == {"size": 4096}
    assert never["metadata"] == {"note": "kept"}
    assert workflow.read_text() == WORKFLOW


def test_a_failed_task_tells_no_size_and_the_workflow_itself_stays(
    run: Path, tmp_path: Path
) -> None:
    workflow = tmp_path / "workflow.yml"
    workflow.write_text(WORKFLOW)
    done = say(run, "--workflow", workflow, "--output", workflow)
    assert "is the workflow itself" in str(done.exception)
    assert workflow.read_text() == WORKFLOW
    failed = RECORD.replace(
        "raw: 0, regular_exitcode: 0", "raw: 256, regular_exitcode: 1"
    )
    (run / "a_a.out.000").write_text(failed)
    assert "tell no size" in str(say(run).exception)
