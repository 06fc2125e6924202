"""Clusters of the built-in planner run in every mode, and give the same results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.report.records import read_records
from tests.support.user_site import Site

MIDDLE = "merge_mix_PID2_ID1"  # of B and C
END = "merge_mix_end_ID1"  # of D and E


def clustered(site: Site, *options: str) -> Path:
    """B and C are of one level, E reads what D makes."""
    with site.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            own = {"clusters.num": 1} if job["id"] in "BC" else {}
            own |= {"label": "end"} if job["id"] in "DE" else {}
            job["profiles"] = {"pegasus": own}
    more = ("--bb-poll", "1s", "--cluster", "horizontal,label", *options)
    return site.planned("run", *more)


def records(folder: Path, node: str) -> list[Any]:
    files = sorted(folder.glob(f"*/*/{node}.out.*"))
    return [record.data for record in read_records(files[-1])]


@pytest.mark.parametrize("mode", ["off", "transient"])
def test_clusters_make_the_same_results(site: Site, mode: str) -> None:
    """In mode persistent, too: see the failed cluster below."""
    site.configure("condorio")
    folder = clustered(site, "--bb-mode", mode)
    site.finishes("run")
    assert [one["derivation"] for one in records(folder, MIDDLE)] == ["B", "C"]
    assert [one["derivation"] for one in records(folder, END)] == ["D", "E"]
    if mode == "off":
        needs = json.loads((folder / f"bb/nodes/{END}.json").read_text())["private"]
        assert sorted(needs["inputs"]) == ["b.dat", "sub/c.dat"]


def test_a_failed_cluster_runs_all_its_tasks_again(site: Site) -> None:
    """Also on a tier with a blank in its path."""
    site.declare(path=str(site.root / "fast disk"))
    site.trouble.write_text("e.dat")
    folder = clustered(site, "--bb-mode", "persistent")
    done = site.run("run")
    assert done.returncode != 0
    assert "the disk on my desk is full" in done.stderr
    site.trouble.unlink()
    site.finishes("run")
    assert [one["derivation"] for one in records(folder, END)] == ["D", "E"]
    site.bb("report", "--bb", str(folder), check=True)
