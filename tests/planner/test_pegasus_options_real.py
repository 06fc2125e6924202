"""Every way of saying things that pegasus-plan knows, through a real one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


def test_a_file_in_the_place_of_the_folder_for_runs_is_named(
    runner: WorkflowRunner,
) -> None:
    words = ("--sites", "cori", "--bb-mode", "persistent", "--dir", "in.txt")
    words += ("--relative-submit-dir", "r1")
    done = runner.bb("plan", *words)
    assert done.returncode == 2
    assert f"--dir: {runner.work}/in.txt is no folder" in done.stderr
    assert (runner.work / "in.txt").read_text() == "hello\n"


def test_no_option_of_pegasus_plan_is_unknown_to_us(runner: WorkflowRunner) -> None:
    """But --help and --version, which are ours then."""
    told = runner.call(str(runner.pegasus / "pegasus-plan"), "--help").stdout
    options = set(re.findall(r"^ (?:-\w \|)?(--[a-z-]+)", told, re.MULTILINE))
    assert len(options) > 25
    for option in options - {"--help", "--version"}:
        done = runner.bb("plan", option, "x", "no-such.yml")
        assert "No such option" not in done.stderr, option


def test_inputs_and_programs_may_be_urls_of_files_here(runner: WorkflowRunner) -> None:
    url = f"file://{runner.work}/in.txt"
    pfns = [{"site": "local", "pfn": url}]
    runner.change("replicas.yml", replicas=[{"lfn": "in.txt", "pfns": pfns}])
    place = {"name": "local", "pfn": f"{runner.work}/cat1.sh", "type": "stageable"}
    runner.change(
        "transformations.yml", transformations=[{"name": "cat1", "sites": [place]}]
    )
    submit = runner.plan("persistent")
    assert list(submit.glob("00/00/chmod_cat1_*.sub"))  # so it was staged
    assert runner.run() == "hello\n"
