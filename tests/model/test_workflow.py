"""The abstract workflow, and each way in which it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import load
from pegasus_bb.model.workflow import Job, Workflow, read_workflow


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def from_text(text: str) -> Workflow:
        (tmp_path / "workflow.yml").write_text(text)
        return read_workflow(load(tmp_path / "workflow.yml", {}))

    return from_text


@pytest.fixture
def job(read: Any) -> Any:
    """A workflow of one job, made of what is given beside its id and name."""

    def of(more: str) -> Job:
        jobs: dict[str, Job] = read(
            f"name: w\njobs:\n  - {{id: A, name: a, type: job, {more}}}\n"
        ).jobs
        return jobs["A"]

    return of


@pytest.fixture
def refused(read: Any) -> Any:
    def error(text: str) -> CatalogError:
        with pytest.raises(CatalogError) as caught:
            read(text)
        return caught.value

    return error


ONE = "name: w\njobs:\n  - {id: A, name: a}\n"
EDGE = ONE + "jobDependencies:\n  - "


@pytest.mark.parametrize(
    ("text", "line", "key", "what"),
    [
        ("jobs: [{id: A, name: a}]\n", 1, "name", "needs a name"),
        ("name: a/b\njobs: []\n", 1, "name", "needs a name"),
        ("name: 'a b'\njobs: []\n", 1, "name", "without blanks"),
        ('name: "a\\nb"\njobs: []\n', 1, "name", "control"),
        ("name: w\n", 1, "jobs", "without jobs"),
        ("name: w\njobs: {a: 1}\n", 2, "jobs", "without jobs"),
        ("name: w\njobs:\n  - text\n", 3, "jobs.0", "a job is a mapping"),
        ("name: w\njobs:\n  - {name: a}\n", 3, "jobs.0", "an id and a name"),
        (ONE + "  - {id: A, name: b}\n", 4, "jobs.1.id", "two jobs have one id"),
        ("name: w\njobs:\n  - {id: 'A B', name: a}\n", 3, "jobs.0.id", "DAG node"),
        ("name: w\njobs:\n  - {id: A, name: 'a;b'}\n", 3, "jobs.0.name", "DAG node"),
        ("name: w\njobs:\n  - {id: \u00a0, name: a}\n", 3, "jobs.0.id", "DAG node"),
        (ONE + "jobDependencies: [x]\n", 4, "jobDependencies.0", "needs an id"),
        (EDGE + "{id: A, children: [B]}\n", 5, "jobDependencies.0", "names a job that"),
    ],
)
def test_a_workflow_is_refused(
    refused: Any, text: str, line: int, key: str, what: str
) -> None:
    error = refused(text)
    assert what in str(error)
    assert (error.line, error.key) == (line, key)
    assert error.file.endswith("workflow.yml")


@pytest.mark.parametrize(
    ("more", "key", "what"),
    [
        ("arguments: text", "arguments", "arguments are a list"),
        ("arguments: [[1]]", "arguments.0", "a single value"),
        ("uses: [x]", "uses.0", "needs an lfn"),
        ("uses: [{lfn: a}]", "uses.0.type", "unknown type of use"),
        ("uses: [{lfn: a, type: chekpoint}]", "uses.0.type", "output, checkpoint"),
        ("uses: [{lfn: a, type: input, size: 3.5TB}]", "uses.0", "a file's size"),
        ("uses: [{lfn: a, type: input, metadata: {size: -1}}]", "uses.0", "a size"),
        ("uses: {a: 1}", "uses", "uses are a list"),
        ("argumnts: [x]", "argumnts", "did you mean arguments?"),
        (
            "uses: [{lfn: a, type: output, stageout: false}]",
            "uses.0.stageout",
            "did you mean stageOut?",
        ),
        ("uses: [{lfn: a, type: input, metadata: x}]", "uses.0.metadata", "a mapping"),
        ("profiles: [x]", "profiles", "profiles are"),
    ],
)
def test_a_job_is_refused(refused: Any, more: str, key: str, what: str) -> None:
    error = refused(f"name: w\njobs:\n  - id: A\n    name: a\n    {more}\n")
    assert what in str(error)
    assert error.key == f"jobs.0.{key}"
    assert error.line == 5


@pytest.mark.parametrize(
    ("more", "key", "what"),
    [
        (
            "jobDependencies: [{id: A, childern: [A]}]",
            "jobDependencies.0.childern",
            "did you mean children?",
        ),
        ("jobDependancies: []", "jobDependancies", "did you mean jobDependencies?"),
    ],
)
def test_a_key_that_would_lose_an_order_of_jobs_is_refused(
    refused: Any, more: str, key: str, what: str
) -> None:
    error = refused(f"name: w\njobs:\n  - id: A\n    name: a\n{more}\nx-ours: 1\n")
    assert what in str(error)
    assert (error.key, error.line) == (key, 5)


@pytest.mark.parametrize(
    ("lfn", "what"),
    [
        ("/etc/passwd", "is absolute"),
        ("../x", "leads out"),
        ("a/../../x", "leads out"),
        ("..", "leads out"),
        ("''", "is empty"),
        ("a//b", "not a plain relative path"),
        ("./a", "not a plain relative path"),
        ("a/.", "not a plain relative path"),
        ("a/", "not a plain relative path"),
        ("~/x", "not a plain relative path"),
        ('"a\\nb"', "control character"),
        ('"a\\0b"', "control character"),
        ('"\\x7f"', "control character"),
        ("x" * 256, "more than 255 bytes"),
        ("ü" * 128, "more than 255 bytes"),
        ("/".join(["x" * 200] * 15), "3,000 bytes or more"),
    ],
)
def test_an_lfn_is_refused(refused: Any, lfn: str, what: str) -> None:
    error = refused(
        "name: w\njobs:\n  - id: A\n    name: a\n    uses:\n"
        f"      - {{lfn: {lfn}, type: input}}\n"
    )
    assert what in str(error)
    assert (error.line, error.key) == (6, "jobs.0.uses.0.lfn")
