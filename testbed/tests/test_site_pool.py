"""A pool of four startds, each with a disk that the others do not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pegasus_bb_testbed import nodes, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.lua_site import ON_LUA
from testbed.tests.test_site_check import Checked
from testbed.tests.test_site_disks import (
    NODES,
    TIER,
    TRANSIENT,
    fail_once,
    left_on_disks,
)
from testbed.tests.test_site_unseen_submit_dir import (
    PERSISTENT,
    UnseenRunner,
    forget_unseen,
    look_around,
)
from testbed.tests.workflow_runner import BackgroundCommand, expected
from tests.support.user_site import expected as of_all

pytestmark = [pytest.mark.site, ON_LUA]
PROFILES = {"pegasus": {"style": "condor", "data.configuration": "condorio"}}
APPTAINER_IS = "usr/local/bin/apptainer"  # where a shell's own PATH finds it
# Starts what stands behind the image, where it is told to.
APPTAINER = """#!/bin/sh
while [ "$1" != --pwd ]; do shift; done
cd "$2" && shift 3 && exec "$@"
"""
RENAMES = """
assert sorted(name for name in os.listdir(".") if "." in name) == inputs
for name in inputs:
    os.rename(name, "my-" + name)
inputs = sorted(name for name in os.listdir(".") if name.startswith("my-"))
"""


class PoolRunner(Checked):
    def fails_once(self, output: str, size: int) -> None:
        """The job that makes ``output``, which the catalogs say to have that size."""
        fail_once(self, output)
        with self.edited("workflow.yml") as workflow:
            for use in (use for job in workflow["jobs"] for use in job["uses"]):
                if use["lfn"] == output:
                    use["metadata"] = {"size": size}
        with self.edited("sites.yml") as sites:
            tier = {**TIER, "request": "request_disk={kib}"}
            sites["x-storage-tiers"]["cluster"] = [tier]
            sites["sites"][1]["profiles"] = PROFILES

    def begin(self) -> BackgroundCommand:
        self.give_to_user()
        self.planned("run", *TRANSIENT, "--cleanup", "none")
        return self.start("run")

    def asked(self, node: str) -> list[int]:
        """KiB of disk that each try of ``node`` asked for, which has ended."""
        here = f'DAGNodeName == "{node}" && Iwd == "{self.submit_dir("run")}"'
        words = ("-constraint", here, "-af", "RequestDisk")
        found = self.ask("condor_history", "-backwards", *words)
        return [int(kib) for kib in reversed(found.out.split())]


class Masks(UnseenRunner):
    """No site catalog; tasks in a container rename their inputs, and list them."""

    site = "condorpool"

    def __init__(self, home: Home) -> None:
        super().__init__(home, "masks", jobs=2)
        tiers = self.document("sites.yml")["x-storage-tiers"]
        (self.work / "sites.yml").unlink()
        self.save("bb.yml", {"x-storage-tiers": {self.site: tiers["cluster"]}})
        with self.edited("transformations.yml") as programs:
            container = {"type": "singularity", "image": "docker://x/masks"}
            programs["containers"] = [{"name": "c", **container}]
            programs["transformations"][0]["sites"][0]["container"] = "c"
        with self.edited("workflow.yml") as workflow:
            asks = {"cores": 2, "memory": 512, "runtime": 600}
            workflow["jobs"][1]["profiles"] = {"pegasus": asks}
        apptainer = home.root / APPTAINER_IS
        apptainer.write_text(APPTAINER)
        apptainer.chmod(0o755)
        task = self.root / "mix.py"
        task.write_text(task.read_text().replace("time.sleep(0.02)", RENAMES))


class Quickstart(UnseenRunner):
    """Folders of inputs and programs in place of catalogs, and two words in one."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, "quickstart", jobs=2)
        for name in ("replicas", "transformations"):
            (self.work / f"{name}.yml").unlink()
        (self.root / "programs").mkdir()
        (self.root / "mix.py").rename(self.root / "programs" / "mix.py")
        with self.edited("workflow.yml") as workflow:
            for job in workflow["jobs"]:
                job["arguments"] = [" ".join(job["arguments"])]

    def planned(self, run: str, *more: str) -> Path:
        folders = {"--input-dir": "inputs", "--transformations-dir": "programs"}
        words = [word for x in folders for word in (x, str(self.root / folders[x]))]
        return super().planned(run, *words, *more)


class Alone(UnseenRunner):
    """The four disks are all that nodes have, and chains stay on them."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, "alone")
        look_around(self)
        tier = {"name": "disk", "backend": "node-local", "path": "$_CONDOR_SCRATCH_DIR"}
        tier |= {"request": "request_disk={kib}", "mount": "any", "granularity": "1MiB"}
        with self.edited("sites.yml") as sites:
            row = {**tier, "submit_dir": "local"}
            sites["x-storage-tiers"] = {"cluster": [row]}


class Stories:
    """Four runs at once: all mostly wait for HTCondor."""

    def __init__(self, home: Home) -> None:
        self.small = PoolRunner(home, "pool", jobs=3)  # A, then B and C
        self.small.fails_once("a.dat", 8 << 20)
        self.large = PoolRunner(home, "pool-large", jobs=1)
        self.large.fails_once("a.dat", 40 << 20)
        self.running, self.waiting = self.small.begin(), self.large.begin()
        self.public: list[UnseenRunner] = [Masks(home), Quickstart(home)]
        for runner in self.public:
            runner.planned("run", *PERSISTENT)
        self.alone = Alone(home)
        self.alone.planned("run", *TRANSIENT, "--bb-chains", "on")
        self.of_alone = self.alone.start("run")
        self.of_public = [runner.start("run") for runner in self.public]


@pytest.fixture(scope="module")
def stories(home: Home, python_inside: None) -> Iterator[Stories]:
    forget_unseen(home)
    site.write_settings(home, len(NODES))
    nodes.make_disks(home)
    call(home, ["condor_reconfig", "-daemon", "master"])
    try:
        yield Stories(home)
    finally:
        call(home, ["condor_rm", "-all"])
        site.write_settings(home, 1)
        call(home, ["condor_reconfig", "-daemon", "master"])
        forget_unseen(home)
        (home.root / APPTAINER_IS).unlink(missing_ok=True)


def test_check_knows_the_disks_of_the_pool(stories: Stories) -> None:
    found = stories.small.check(*TRANSIENT)
    (said,) = (what for _, about, what in found if about == "pool")
    has = "slots of the pool have 57.4 MiB of disk at most"
    assert said == f"{has}; a job asks for 9.0 MiB at most"
    stories.large.fails_once("a.dat", 200 << 20)
    (wrong,) = stories.large.wrong(*TRANSIENT)
    assert f"{has}, and A asks for 221.0 MiB: it would wait for ever" in wrong


def test_a_try_that_no_disk_has_room_for_is_told_with_what_lets_it_go_on(
    stories: Stories,
) -> None:
    run = stories.waiting
    told = re.compile(r"(?s)mix_A waits in HTCondor's pool (.*)condor_qedit (.*) if")
    why, mend = run.until(lambda: told.search(run.output())).groups()
    assert "no slot of the pool has more than 57.4 MiB" in why
    assert stories.large.ask("condor_qedit", *mend.split()).status == 0
    done = run.end()
    assert done.status == 0, done.err
    assert stories.large.content("run") == expected(1)


def test_results_come_back_and_the_next_try_has_asked_for_more(
    stories: Stories,
) -> None:
    runner = stories.small
    done = stories.running.end()
    assert done.status == 0, done.err
    assert runner.content("run") == expected(3)
    assert runner.asked("mix_A") == [9216, 13824]
    hosts = {record["hostname"] for record in runner.tasks("run").values()}
    assert hosts <= set(NODES)
    assert left_on_disks(runner.home) <= {f"pegasus_bb-cache.{x}.1000" for x in hosts}


def test_public_kinds_of_workflow_run_where_nodes_see_the_tier_alone(
    stories: Stories,
) -> None:
    for runner, run in zip(stories.public, stories.of_public, strict=True):
        done = run.end()
        assert done.status == 0, done.err
        assert runner.content("run") == expected(2)


def test_files_come_and_go_with_jobs_and_chains_in_a_pool_that_shares_nothing(
    stories: Stories,
) -> None:
    done = stories.of_alone.end()
    assert done.status == 0, done.err
    runner = stories.alone
    assert runner.content("run") == of_all()
    notes = {path.stem for path in runner.submit_dir("run").glob("bb/stage_out/*.json")}
    assert notes == {"mix_A", "mix_B", "mix_C", "merge_mix_chain1_ID1"}
