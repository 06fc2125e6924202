"""Every way of saying things that pegasus-plan knows, through a real one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.planner.real_desk import MARKS, Desk

pytestmark = MARKS


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def run(desk: Desk, submit: object) -> str:
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    return (desk.work / "out" / "out.txt").read_text()


def test_a_file_in_the_place_of_the_folder_for_runs_is_named(desk: Desk) -> None:
    words = ("--sites", "cori", "--bb-mode", "persistent", "--dir", "in.txt")
    words += ("--relative-submit-dir", "r1")
    done = desk.try_call(sys.executable, "-m", "pegasus_bb", "plan", *words)
    assert done.returncode == 2
    assert f"--dir: {desk.work}/in.txt is no folder" in done.stderr
    assert (desk.work / "in.txt").read_text() == "hello\n"


def test_no_option_of_pegasus_plan_is_unknown_to_us(desk: Desk) -> None:
    """But --help and --version, which are ours then."""
    told = desk.call(str(desk.pegasus / "pegasus-plan"), "--help").stdout
    options = set(re.findall(r"^ (?:-\w \|)?(--[a-z-]+)", told, re.MULTILINE))
    assert len(options) > 25
    for option in options - {"--help", "--version"}:
        done = desk.try_call(
            sys.executable, "-m", "pegasus_bb", "plan", option, "x", "no-such.yml"
        )
        assert "No such option" not in done.stderr, option


@pytest.mark.parametrize("word", ["--randomdir", "--randomdir=there"])
def test_a_random_directory_lies_on_the_buffer(desk: Desk, word: str) -> None:
    submit = desk.plan("r", word)
    scratch = json.loads((submit / "bb" / "placement.json").read_text())["scratch"]
    prefix = json.loads((submit / "bb" / "request.json").read_text())["prefix"]
    assert re.fullmatch(f"{prefix}/(there|demo-0-.*)", scratch)


def test_the_files_of_two_input_folders_are_found(desk: Desk) -> None:
    for name in ("one", "two"):
        (desk.work / name).mkdir()
    (desk.work / "two" / "in.txt").write_text("from the second\n")
    (desk.work / "replicas.yml").unlink()
    submit = desk.plan("r", "--input-dir", "one,two")
    assert run(desk, submit) == "from the second\n"


def test_inputs_and_programs_may_be_urls_of_files_here(desk: Desk) -> None:
    url = f"file://{desk.work}/in.txt"
    pfns = [{"site": "local", "pfn": url}]
    desk.change("replicas.yml", replicas=[{"lfn": "in.txt", "pfns": pfns}])
    place = {"name": "local", "pfn": f"{desk.work}/cat1.sh", "type": "stageable"}
    desk.change(
        "transformations.yml", transformations=[{"name": "cat1", "sites": [place]}]
    )
    submit = desk.plan("r")
    assert list(submit.glob("00/00/chmod_cat1_*.sub"))  # so it was staged
    assert run(desk, submit) == "hello\n"
