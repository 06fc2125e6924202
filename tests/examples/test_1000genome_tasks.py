"""The 1000 Genomes example: what its tasks compute, run by hand, and how surely."""

from __future__ import annotations

import gzip
import os
import runpy
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import numpy  # noqa: F401 - loaded once, for all tasks
import pytest

from tests.examples.genomes import EXAMPLE, read
from tests.support.forked import forked


def run_task(task: str, arguments: list[str], cwd: Path) -> None:
    path = EXAMPLE / "bin" / f"{task}.py"

    def program() -> None:
        os.chdir(cwd)
        sys.argv = [str(path), *arguments]
        sys.path.insert(0, str(path.parent))
        runpy.run_path(str(path), run_name="__main__")

    done = forked(program, [task, *arguments])
    assert done.returncode == 0, done.stderr


def topological(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """The jobs, each after its parents."""
    jobs = {job["id"]: job for job in workflow["jobs"]}
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(jobs, ()))
    for row in workflow["jobDependencies"]:
        for child in row["children"]:
            order.add(child, row["id"])
    return [jobs[job] for job in order.static_order()]


def run_by_hand(generated: Path, cwd: Path, *programs: str) -> dict[str, bytes]:
    """Run the tasks of some programs in CWD, or all of them; gives every file that is
    there in the end."""
    cwd.mkdir(parents=True)
    for replica in read(generated / "replicas.yml")["replicas"]:
        (cwd / replica["lfn"]).symlink_to(replica["pfns"][0]["pfn"])
    for job in topological(read(generated / "workflow.yml")):
        if not programs or job["name"] in programs:
            run_task(job["name"], job["arguments"], cwd)
    return {path.name: path.read_bytes() for path in cwd.iterdir()}


# What the tasks compute


@pytest.mark.sweep
def test_every_file_is_at_most_as_large_as_declared(tiny: Path, tmp_path: Path) -> None:
    """And no declared size wastes more than a reservation can bear."""
    finished = run_by_hand(tiny, tmp_path / "run")
    uses = [use for job in read(tiny / "workflow.yml")["jobs"] for use in job["uses"]]
    declared = {use["lfn"]: use["metadata"]["size"] for use in uses}
    assert finished.keys() == declared.keys()  # and the tasks leave nothing behind
    for lfn, content in finished.items():
        assert len(content) <= declared[lfn], lfn
        assert declared[lfn] <= 3 * len(content) + 1000, lfn


# How surely


LEFT = {"individuals": "chr1n-1-21", "individuals_merge": "chr1n"}


@pytest.fixture(scope="module")
def begun(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return run_by_hand(tiny, tmp_path_factory.mktemp("here") / "run", *LEFT)


@pytest.mark.parametrize(("task", "folder"), LEFT.items())
def test_leftovers_of_a_killed_attempt_change_nothing(
    task: str, folder: str, tiny: Path, begun: dict[str, bytes], tmp_path: Path
) -> None:
    """Killed while it wrote its files, or while it packed them."""
    jobs = read(tiny / "workflow.yml")["jobs"]
    job = next(job for job in jobs if job["name"] == task)
    for use in job["uses"]:
        if use["type"] == "input":
            (tmp_path / use["lfn"]).write_bytes(begun[use["lfn"]])
    leftover = tmp_path / folder
    archive = tmp_path / f"{folder}.tar.gz"
    leftover.mkdir()
    (leftover / "chr1.HG00096").write_text("rs1\t1\tA")
    (leftover / "chr1.STRANGER").write_text("rs1\t1\tA\tC\t0.5\n")
    archive.write_bytes(gzip.compress(b"half an archive")[:9])
    run_task(task, job["arguments"], tmp_path)
    assert not leftover.exists()
    assert archive.read_bytes() == begun[archive.name]
