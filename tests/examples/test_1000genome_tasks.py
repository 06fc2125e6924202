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


def run_by_hand(generated: Path, cwd: Path) -> dict[str, bytes]:
    """Run all tasks in CWD; gives every file that is there in the end."""
    cwd.mkdir(parents=True)
    for replica in read(generated / "replicas.yml")["replicas"]:
        (cwd / replica["lfn"]).symlink_to(replica["pfns"][0]["pfn"])
    for job in topological(read(generated / "workflow.yml")):
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


def test_leftovers_of_a_killed_attempt_change_nothing(
    tiny: Path, tmp_path: Path
) -> None:
    """Killed while it wrote its files, or while it packed them. All programs that have
    a folder make and pack it in the same way."""
    jobs = read(tiny / "workflow.yml")["jobs"]
    job = next(job for job in jobs if "chr1n-1-21.tar.gz" in lfns(job, "output"))
    pfns = {
        r["lfn"]: r["pfns"][0]["pfn"] for r in read(tiny / "replicas.yml")["replicas"]
    }
    clean, dirty = tmp_path / "clean", tmp_path / "dirty"
    for folder in (clean, dirty):
        folder.mkdir()
        for lfn in lfns(job, "input"):
            (folder / lfn).symlink_to(pfns[lfn])
    leftover = dirty / "chr1n-1-21"
    archive = dirty / "chr1n-1-21.tar.gz"
    leftover.mkdir()
    (leftover / "chr1.HG00096").write_text("rs1\t1\tA")
    (leftover / "chr1.STRANGER").write_text("rs1\t1\tA\tC\t0.5\n")
    archive.write_bytes(gzip.compress(b"half an archive")[:9])
    for folder in (clean, dirty):
        run_task(job["name"], job["arguments"], folder)
    assert not leftover.exists()
    assert archive.read_bytes() == (clean / archive.name).read_bytes()


def lfns(job: dict[str, Any], kind: str) -> list[str]:
    return [use["lfn"] for use in job["uses"] if use["type"] == kind]
