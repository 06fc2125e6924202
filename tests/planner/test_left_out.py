"""What a planner leaves out is said by `plan` and by `check`, or refused by both."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli import cli
from tests.support.pegasus_site import write_site

GIVEN = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
Data = dict[str, Any]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, with no Pegasus anywhere."""
    write_site(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PEGASUS_HOME", raising=False)
    edit("workflow.yml", lambda w: [register(use, False) for use in results(w)])
    return tmp_path / "work"


def edit(file: str, change: Callable[[Data], Any]) -> None:
    data = json.loads(Path(file).read_text())
    change(data)
    Path(file).write_text(json.dumps(data))


def results(workflow: Data) -> list[Data]:
    uses = (use for job in workflow["jobs"] for use in job["uses"])
    return [use for use in uses if use["type"] == "output"]


def register(use: Data, value: bool) -> None:
    use["registerReplica"] = value


def call(command: str, *words: str, mode: str = "persistent") -> Result:
    said = ("--bb-planner", "builtin", "--bb-mode", mode, *words)
    return CliRunner().invoke(cli, [command, *GIVEN, *said, "workflow.yml"])


def registers() -> None:
    edit("workflow.yml", lambda w: register(results(w)[-1], True))


def has_an_earlier_result() -> None:
    old = {"lfn": "out.txt", "pfns": [{"site": "cori", "pfn": "/lus/old/out.txt"}]}
    edit("replicas.yml", lambda r: r["replicas"].append(old))


def has_hooks() -> None:
    hooks = {"shell": [{"_on": "start", "cmd": "/bin/date"}]}
    edit("workflow.yml", lambda w: w["jobs"][0].update(hooks=hooks))


def is_in_development() -> None:
    Path("pegasus.properties").write_text("pegasus.mode = development\n")


def has_a_checkpoint() -> None:
    use = {"lfn": "state", "type": "checkpoint", "stageOut": True}
    edit("workflow.yml", lambda w: w["jobs"][0]["uses"].append(use))


def profiles_of_a_job(**namespaces: Data) -> Callable[[], None]:
    def change(workflow: Data) -> None:
        workflow["jobs"][0].setdefault("profiles", {}).update(namespaces)

    return lambda: edit("workflow.yml", change)


def property_is(line: str) -> Callable[[], None]:
    return lambda: edit_properties(line)


def edit_properties(line: str) -> None:
    Path("pegasus.properties").write_text(f"# mine\n{line}\n")


def bypasses() -> None:
    edit("workflow.yml", lambda w: w["jobs"][0]["uses"][0].update(bypass=True))


def has_profiles_of_its_own() -> None:
    edit("workflow.yml", lambda w: w.update(profiles={"env": {"A": "1"}}))


def a_program_has_hooks() -> None:
    hooks = {"shell": [{"_on": "end", "cmd": "/bin/date"}]}
    edit("transformations.yml", lambda t: t["transformations"][0].update(hooks=hooks))


def loses_an_empty_argument() -> None:
    edit("workflow.yml", lambda w: w["jobs"][0]["arguments"].append(""))


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (bypasses, "does not bypass the staging of inputs (in.txt)"),
        (has_profiles_of_its_own, "profiles of the whole workflow apply to no job"),
        (a_program_has_hooks, "does not run the shell hooks of transformation cat1"),
        (loses_an_empty_argument, "job ID1 loses empty arguments"),
        (
            property_is("pegasus.file.cleanup.scope = deferred"),
            "leaves out pegasus.file.cleanup.scope",
        ),
        (
            property_is("pegasus.dir.strage.mapper = Flat"),
            "pegasus.properties:2: property pegasus.dir.strage.mapper is not known to "
            "Pegasus 5: did you mean pegasus.dir.storage.mapper?",
        ),
        (
            profiles_of_a_job(pegasus={"maxwalltime": 5}, globus={"project": "p"}),
            "leaves out profile pegasus maxwalltime, profile globus project",
        ),
        (
            profiles_of_a_job(pegasus={"runtme": 5}),
            "profile pegasus runtme is not known to Pegasus 5: did you mean runtime?",
        ),
        (
            profiles_of_a_job(pegasis={"cores": 5}),
            "profile pegasis cores is not known to Pegasus 5: did you mean pegasus?",
        ),
        (registers, "does not register results"),
        (has_an_earlier_result, "reuses none of them and runs every job"),
        (has_hooks, "does not run the shell hooks of job ID1"),
        (is_in_development, "does not know pegasus.mode"),
        (has_a_checkpoint, "checkpoint files (state) are kept for retries"),
    ],
)
def test_what_the_built_in_planner_ignores_is_noted(
    work: Path, prepare: Callable[[], None], words: str
) -> None:
    conf = ("--conf", "pegasus.properties")
    assert words not in call("plan", "--force").output
    Path("pegasus.properties").touch()
    prepare()
    planned = call("plan", "--force", *conf)
    checked = call("check", "--force", *conf)
    assert planned.exit_code == 0, planned.output
    assert planned.output.count(words) == 1
    assert " ".join(checked.output.split()).count(words) == 1, checked.output


def test_an_optional_input_that_is_nowhere_is_left_out(work: Path) -> None:
    use = {"lfn": "maybe.cfg", "type": "input"}
    edit("workflow.yml", lambda w: w["jobs"][0]["uses"].append(use))
    assert "has no replica" in str(call("plan").exception)
    use["optional"] = True  # type: ignore[assignment]
    edit("workflow.yml", lambda w: w["jobs"][0]["uses"].__setitem__(-1, use))
    for mode in ("off", "persistent", "transient"):
        planned = call("plan", "--relative-submit-dir", mode, mode=mode)
        assert planned.exit_code == 0, planned.output
        lists = (work / "submit" / mode).glob("0*/*/stage_in*.in")
        assert not any("maybe.cfg" in file.read_text() for file in lists)


def fetched_from_s3(replicas: Data) -> None:
    replicas["replicas"][0]["pfns"][0]["pfn"] = "s3://me@amazon/bucket/in.txt"


def test_what_only_pegasus_transfer_fetches_is_named_without_one(work: Path) -> None:
    """The nodes may have it."""

    def from_s3(programs: Data) -> None:
        (place,) = programs["transformations"][0]["sites"]
        place.update(pfn="s3://me@amazon/bucket/cat1", type="stageable")

    edit("replicas.yml", fetched_from_s3)
    edit("transformations.yml", from_s3)
    edit("sites.yml", lambda s: s["sites"][1]["profiles"].pop("env"))
    for command in ("plan", "check"):
        done = call(command)
        assert done.exit_code == 0, done.output
        said = " ".join(done.output.split())
        assert "in.txt, cat1: only pegasus-transfer fetches s3://" in said


def test_a_site_with_a_pegasus_fetches_it(work: Path) -> None:
    edit("replicas.yml", fetched_from_s3)
    assert "only pegasus-transfer" not in call("plan").output


def test_a_checkpoint_that_is_never_written_does_not_keep_the_buffer(
    work: Path,
) -> None:
    has_a_checkpoint()
    assert call("plan", "--relative-submit-dir", "r").exit_code == 0
    ended = CliRunner().invoke(cli, ["run", "--engine", "local", "submit/r"])
    assert ended.exit_code == 0, ended.output
    assert (work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (work / "fast").iterdir() if p.is_dir()] == []
