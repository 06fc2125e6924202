"""Nodes that see the tier, and nothing else of what the submit host has: a startd and a
slurmd in mount namespaces of their own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed import nodes, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.slurm_site import ON_SECOND, SlurmSite
from testbed.tests.workflow_runner import PLANNERS, PROFILES, SHOWN, WorkflowRunner
from testbed.tests.workflow_runner import expected as of_first
from tests.support.user_site import JOBS, expected

pytestmark = [pytest.mark.site, ON_SECOND]
POOL = {"pegasus": {"style": "condor", "data.configuration": "condorio"}}
PEGASUS = SHOWN.bin.parent if SHOWN else None
PERSISTENT = ("--bb-mode", "persistent")


def on_tier_alone(home: Home, sites: dict[str, Any], profiles: Any) -> dict[str, Any]:
    """``sites``, whose nodes see a folder of the work folder as their tier."""
    row = {"name": "bb", "backend": "directory", "path": str(tier_of(home))}
    row |= {"quota": "256MiB", "granularity": "1MiB", "submit_dir": "local"}
    sites["x-storage-tiers"] = {"cluster": [row]}
    [cluster] = [one for one in sites["sites"] if one["name"] == "cluster"]
    cluster["profiles"] = profiles
    cluster.pop("directories", None)  # nothing on the submit host is a scratch
    return sites


def tier_of(home: Home) -> Path:
    tier = home.work / "tier-of-nodes"
    tier.mkdir(exist_ok=True)
    tier.chmod(0o1777)
    return tier


class UnseenRunner(WorkflowRunner):
    """All that a user has is where nodes do not see it; the task is staged."""

    profiles: Any = POOL

    def _runs(self) -> Path:
        return self.home.unseen

    def _sites(self) -> dict[str, Any]:
        home = {} if self.planner == "builtin" else {"PEGASUS_HOME": str(PEGASUS)}
        profiles = {**self.profiles, "env": home}
        return on_tier_alone(self.home, super()._sites(), profiles)

    def _replicas(self) -> dict[str, Any]:
        return here(super()._replicas())

    def _transformations(self) -> dict[str, Any]:
        catalog = super()._transformations()
        [place] = catalog["transformations"][0]["sites"]
        place |= {"name": "local", "type": "stageable"}
        return catalog


class BehindSlurm(UnseenRunner):
    """blahp hands no files over, so the submit directory is on the tier."""

    profiles = PROFILES

    @property
    def submits(self) -> Path:
        return tier_of(self.home) / "submit"


def here(replicas: dict[str, Any]) -> dict[str, Any]:
    for entry in replicas["replicas"]:
        for place in entry["pfns"]:
            place["site"] = "local"
    return replicas


def forget_unseen(home: Home) -> None:
    """Remove what earlier tests have left: users' folders, and the tier."""
    for left in home.unseen.iterdir():  # a new folder would be no mount of the nodes
        shutil.rmtree(left)
    shutil.rmtree(home.work / "tier-of-nodes", ignore_errors=True)


@pytest.fixture
def unseen(submit_host: SlurmSite) -> Iterator[Home]:
    home = submit_host.home
    forget_unseen(home)
    yield home
    forget_unseen(home)


@pytest.fixture
def slurmd_of_a_node(unseen: Home) -> Iterator[Home]:
    call(unseen, ["pkill", "-x", "slurmd"])
    site.await_end(unseen, "slurmd")
    site.must(unseen, [nodes.AS_A_NODE, "/usr/sbin/slurmd"])
    try:
        yield unseen
    finally:
        call(unseen, ["pkill", "-x", "slurmd"])
        site.await_end(unseen, "slurmd")
        site.restart(unseen, "slurmd")


def look_around(runner: UnseenRunner) -> None:
    """A task that sees a file of the submit host fails."""
    look = f"assert os.listdir({str(runner.home.unseen)!r}) == []"
    task = runner.root / "mix.py"
    task.write_text(task.read_text().replace("time.sleep(0.02)", look))


def ran_well(runner: UnseenRunner) -> None:
    look_around(runner)
    runner.planned("bb", *PERSISTENT)
    assert "engine: dagman" in runner.run_well("bb").err
    jobs = list(JOBS)[: runner.jobs or None]
    assert runner.content("bb") == (of_first(len(jobs)) if runner.jobs else expected())
    records = runner.submit_dir("bb").glob("*/*/mix_*.out.0*")
    ended = {path.name.partition(".")[0] for path in records if path.stat().st_size}
    assert ended == {f"mix_{job}" for job in jobs}


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_pool_runs_what_its_nodes_do_not_see(
    unseen: Home, planners: None, planner: str
) -> None:
    ran_well(UnseenRunner(unseen, "pool", planner=planner))


def test_slurm_runs_what_its_nodes_do_not_see(slurmd_of_a_node: Home) -> None:
    ran_well(BehindSlurm(slurmd_of_a_node, "slurm", jobs=2))
