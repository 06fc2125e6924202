"""Sub-workflows with the built-in planner: nodes, edges, options, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.workflow import with_own_runs

from .conftest import replica_catalog

NODE = "pegasus-plan_inner_yml_SUB"


def nested(runner: Any, *arguments: str) -> None:
    """ID2 reads what ID1 made through a sub-workflow, which also reads words.txt."""
    uses = [
        {"lfn": "inner.yml", "type": "input", "forPlanning": True},
        {"lfn": "a.txt", "type": "input"},
        {"lfn": "words.txt", "type": "input"},
        {"lfn": "made.txt", "type": "output"},
    ]
    job = {"type": "pegasusWorkflow", "file": "inner.yml", "id": "SUB", "uses": uses}
    runner.jobs[1]["uses"][0]["lfn"] = "made.txt"
    runner.jobs.append({**job, "arguments": list(arguments)})
    runner.replicas = replica_catalog("in.txt", "words.txt", "inner.yml")


def planned(runner: Any) -> Any:
    """The built-in planner reads the workflow so."""
    whole = runner.read

    def read() -> Any:
        workflow, catalogs = whole()
        return with_own_runs(workflow), catalogs

    runner.read = read
    return runner.plan()


def words(runner: Any) -> list[str]:
    options: list[str] = planned(runner).runs[NODE]["options"]
    return options


def value(options: list[str], option: str) -> str:
    return options[options.index(option) + 1]


def lfns(job: Any, word: str) -> list[str]:
    if not job.name.startswith(word):
        return []
    return [entry["lfn"] for entry in job.entries]


def test_a_result_that_goes_to_the_output_site_is_read_there(runner: Any) -> None:
    nested(runner)
    runner.jobs[0]["uses"][1]["stageOut"] = True
    assert planned(runner).runs[NODE]["inputs"] == {
        "inner.yml": "/lus/inputs/inner.yml",
        "a.txt": "/home/wfuser/out/a.txt",
        "words.txt": "/lus/inputs/words.txt",
    }


def test_the_outer_run_says_what_its_arguments_do_not(runner: Any) -> None:
    nested(runner)
    runner.change(clusters=("label",), output_dir=Path("/results"), may_run_here=True)
    options = words(runner)
    folder = runner.context.submit_dir / "sub" / NODE
    for option, wanted in {
        "--dir": str(folder),
        "--relative-submit-dir": "run",
        "--sites": "cori,local",
        "--cleanup": "inplace",
        "--cluster": "label",
        "--output-sites": "local",
        "--output-dir": "/results",
        "--input-dir": ".",
        "--bb-planner": "builtin",
    }.items():
        assert value(options, option) == wanted


def test_its_arguments_win_and_its_folders_are_below_the_outer_ones(
    runner: Any,
) -> None:
    more = "--sites other -o there --cluster=none --bb-mode off -Dpegasus.x=y"
    dropped = "-vvv --force --basename inner --dir elsewhere --relative-dir r"
    nested(runner, *more.split(), *dropped.split())
    options = words(runner)
    for option, wanted in {
        "--sites": "other",
        "--output-sites": "there",
        "--cluster": "none",
        "--bb-mode": "off",
        "-D": "pegasus.x=y",
    }.items():
        assert value(options, option) == wanted
    assert not {"-vvv", "--force", "--basename", "inner", "elsewhere"} & set(options)
    assert options.count("--dir") == 1


def test_paths_are_its_inputs_or_the_user_s(runner: Any) -> None:
    nested(runner, "--conf", "words.txt", "--input-dir", "data", "-O", "out")
    runner.change(cwd=Path("/home/wfuser"))
    plan = planned(runner).runs[NODE]
    assert plan["conf"] == "words.txt"
    assert value(plan["options"], "--input-dir") == "/home/wfuser/data,."
    assert value(plan["options"], "--output-dir") == "/home/wfuser/out"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--reuse", "x"], "an option that the built-in planner does not have"),
        (["word"], "an option that the built-in planner does not have"),
        (["--sites"], "an option in its arguments has no value"),
    ],
)
def test_other_arguments_are_refused(
    runner: Any, arguments: list[str], why: str
) -> None:
    nested(runner, *arguments)
    with pytest.raises(CatalogError, match=why):
        planned(runner)


def test_a_file_that_is_nowhere_is_refused(runner: Any) -> None:
    nested(runner)
    runner.replicas = replica_catalog("in.txt", "words.txt")
    with pytest.raises(CatalogError, match="needs a file that no job makes"):
        planned(runner)


def test_a_workflow_that_names_itself_ends(runner: Any) -> None:
    nested(runner)
    deep = Path("/home/wfuser", *["sub/pegasus-plan_x/run"] * 20)
    runner.change(submit_dir=deep)
    with pytest.raises(CatalogError, match="more than 20 workflows inside"):
        planned(runner)
