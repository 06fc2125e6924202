"""What a planner leaves out is said by `plan` and by `check`, or refused by both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli import cli
from pegasus_bb.planner.builtin.argument_words import loses_text
from tests.support.edits import REMOVE, put
from tests.support.pegasus_site import write_site

GIVEN = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, with no Pegasus anywhere."""
    write_site(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PEGASUS_HOME", raising=False)
    for job in range(2):
        edit("workflow.yml", f"jobs/{job}/uses/1/registerReplica", False)
    return tmp_path / "work"


def edit(file: str, path: str, value: Any) -> None:
    data = json.loads(Path(file).read_text())
    put(data, path, value)
    Path(file).write_text(json.dumps(data))


def call(command: str, *words: str, mode: str = "persistent") -> Result:
    said = ("--bb-planner", "builtin", "--bb-mode", mode, *words)
    return CliRunner().invoke(cli, [command, *GIVEN, *said, "workflow.yml"])


WORKFLOW = "workflow.yml"
CHECKPOINT = {"lfn": "state", "type": "checkpoint", "stageOut": True}
RESULT = "jobs/1/uses/1/registerReplica"
OLD = {"lfn": "out.txt", "pfns": [{"site": "cori", "pfn": "/lus/old/out.txt"}]}
HOOKS = {"shell": [{"_on": "start", "cmd": "/bin/date"}]}
# A file of the user, what he changes there, and what is said of it.
IGNORED: list[tuple[str, str, Any, str]] = [
    (WORKFLOW, "jobs/0/uses/0/bypass", True, "the staging of inputs (in.txt)"),
    (
        WORKFLOW,
        "profiles",
        {"env": {"A": "1"}},
        "of the whole workflow apply to no job",
    ),
    ("transformations.yml", "transformations/0/hooks", HOOKS, "of transformation cat1"),
    (WORKFLOW, "jobs/0/arguments/+", "", "job ID1 loses empty arguments"),
    (
        WORKFLOW,
        "jobs/0/profiles",
        {"pegasus": {"maxwalltime": 5}, "globus": {"project": "p"}},
        "leaves out profile pegasus maxwalltime, profile globus project",
    ),
    (
        WORKFLOW,
        "jobs/0/profiles/pegasus",
        {"runtme": 5},
        "profile pegasus runtme is not known to Pegasus 5: did you mean runtime?",
    ),
    (
        WORKFLOW,
        "jobs/0/profiles/pegasis",
        {"cores": 5},
        "profile pegasis cores is not known to Pegasus 5: did you mean pegasus?",
    ),
    (WORKFLOW, RESULT, True, "does not register results"),
    ("replicas.yml", "replicas/+", OLD, "reuses none of them and runs every job"),
    (WORKFLOW, "jobs/0/hooks", HOOKS, "does not run the shell hooks of job ID1"),
    (WORKFLOW, "jobs/0/uses/+", CHECKPOINT, "files (state) are kept for retries"),
]
PROPERTIES = [
    ("pegasus.file.cleanup.scope = deferred", "leaves out pegasus.file.cleanup.scope"),
    (
        "pegasus.dir.strage.mapper = Flat",
        "conf:2: property pegasus.dir.strage.mapper is not known to "
        "Pegasus 5: did you mean pegasus.dir.storage.mapper?",
    ),
    ("pegasus.mode = development", "does not know pegasus.mode"),
]


def is_noted(words: str, *conf: str) -> None:
    """By plan and by check, once each."""
    planned = call("plan", "--force", *conf)
    checked = call("check", "--force", *conf)
    assert planned.exit_code == 0, planned.output
    assert planned.output.count(words) == 1
    assert " ".join(checked.output.split()).count(words) == 1, checked.output


@pytest.mark.parametrize(("file", "path", "value", "words"), IGNORED)
def test_what_the_built_in_planner_ignores_is_noted(
    work: Path, file: str, path: str, value: Any, words: str
) -> None:
    assert words not in call("plan", "--force").output
    edit(file, path, value)
    is_noted(words)


@pytest.mark.parametrize(("line", "words"), PROPERTIES)
def test_a_property_that_it_ignores_is_noted(work: Path, line: str, words: str) -> None:
    (work / "conf").write_text(f"# mine\n{line}\n")
    is_noted(words, "--conf", "conf")


def test_an_optional_input_that_is_nowhere_is_left_out(work: Path) -> None:
    use = {"lfn": "maybe.cfg", "type": "input"}
    edit(WORKFLOW, "jobs/0/uses/+", use)
    assert "has no replica" in str(call("plan").exception)
    edit(WORKFLOW, "jobs/0/uses/2/optional", True)
    for mode in ("off", "persistent", "transient"):
        planned = call("plan", "--relative-submit-dir", mode, mode=mode)
        assert planned.exit_code == 0, planned.output
        lists = (work / "submit" / mode).glob("0*/*/stage_in*.in")
        assert not any("maybe.cfg" in file.read_text() for file in lists)


INPUT = ("replicas.yml", "replicas/0/pfns/0/pfn", "s3://me@amazon/bucket/in.txt")


def test_what_only_pegasus_transfer_fetches_is_named_without_one(work: Path) -> None:
    """The nodes may have it."""

    edit(*INPUT)
    place = {"name": "cori", "pfn": "s3://me@amazon/bucket/cat1", "type": "stageable"}
    edit("transformations.yml", "transformations/0/sites/0", place)
    edit("sites.yml", "sites/1/profiles/env", REMOVE)
    for command in ("plan", "check"):
        done = call(command)
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert "in.txt, cat1: only pegasus-transfer fetches s3://" in said


def test_a_site_with_a_pegasus_fetches_it(work: Path) -> None:
    edit(*INPUT)
    assert "only pegasus-transfer" not in call("plan").output


def test_a_checkpoint_that_is_never_written_does_not_keep_the_buffer(
    work: Path,
) -> None:
    edit(WORKFLOW, "jobs/0/uses/+", CHECKPOINT)
    assert call("plan", "--relative-submit-dir", "r").exit_code == 0
    ended = CliRunner().invoke(cli, ["run", "--engine", "local", "submit/r"])
    assert ended.exit_code == 0, ended.output
    assert (work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (work / "fast").iterdir() if p.is_dir()] == []


@pytest.mark.parametrize(
    ("item", "loses"),
    [
        ("", True),
        (r"a\b", True),
        (r"a\\b", False),
        (r"say \"a\"", False),
        ("''", False),
    ],
)
def test_text_that_is_written_as_the_note_advises_is_not_lost(
    item: str, loses: bool
) -> None:
    assert loses_text([item]) is loses
