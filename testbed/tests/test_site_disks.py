"""Four nodes, each with a disk of its own that jobs ask for by size."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed import nodes, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from pegasus_bb.report.records import read_records
from testbed.tests.lua_site import ON_LUA, LuaSite
from testbed.tests.slurm_site import POOL
from testbed.tests.test_site_check import SITE, Checked
from testbed.tests.test_site_unseen_submit_dir import (
    BehindSlurm,
    forget_unseen,
    look_around,
)
from testbed.tests.workflow_runner import (
    LUA_TIER,
    PERSISTENT,
    BackgroundCommand,
    WorkflowRunner,
    expected,
)
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
NODES = ("node1", "node2", "node3", "node4")
READERS = [f"R{number}" for number in range(8)]
BIG = b"ACGT" * (1 << 18)
TIER = {"name": "nvme", "backend": "node-local", "path": nodes.DISK}
TRANSIENT = ("--bb-mode", "transient")
TIER |= {"cache": "20MiB", "request": "--gres=nvme:{mb}", "granularity": "1MiB"}
# Readers wait for each other, so each of the eight processors has one, and for a ninth
# file.
TOGETHER = """
if out.startswith("R"):
    open({here!r} + "/" + out, "w").close()
    while len(os.listdir({here!r})) < 9:
        time.sleep(0.1)
"""
# A task that sees another node's disk fails, and so does the first try of one job.
FAILS = """
assert os.listdir("/nodes") == []
if out == {output!r} and not os.path.exists({marker!r}):
    open({marker!r}, "w").close()
    raise OSError(28, "No space left on device")
"""


class DiskRunner(Checked):
    """Eight jobs read one large input, and each makes a file for one job of its own."""

    def write(self) -> None:
        super().write()
        (self.root / "inputs" / "big.dat").write_bytes(BIG)
        self.save("replicas.yml", self._replicas())
        self.save("workflow.yml", _workflow())
        self.has(**TIER)

    def has(self, **tier: Any) -> None:
        with self.edited("sites.yml") as sites:
            sites["x-storage-tiers"]["cluster"] = [tier]

    @property
    def here(self) -> Path:
        """Where readers say that they run."""
        return self.root / "here"

    def has_one_job(self, size: int) -> None:
        """Whose output is a result, which the catalogs say to have that size."""
        with self.edited("workflow.yml") as workflow:
            del workflow["jobs"][1:]
            (made,) = workflow["jobs"][0]["uses"][1:]
            made.update(stageOut=True, metadata={"size": size})

    def wait_for_each_other(self) -> None:
        self.here.mkdir()
        task = self.root / "mix.py"
        waits = TOGETHER.format(here=str(self.here))
        task.write_text(task.read_text().replace("time.sleep(0.02)", waits))

    def begin(self, *more: str) -> BackgroundCommand:
        self.give_to_user()
        self.planned("run", *TRANSIENT, "--cleanup", "none", *more)
        return self.start("run")


class UnseenRunner(BehindSlurm):
    """Nodes see the buffer and the submit directory; the service moves the files."""

    def _sites(self) -> dict[str, Any]:
        sites = super()._sites()
        row = {**LUA_TIER, "service": "/run/pegasus-bb"}
        sites["x-storage-tiers"] = {"cluster": [row]}
        return sites


class Stories:
    """Four runs at once: all mostly wait for HTCondor."""

    def __init__(self, four: LuaSite) -> None:
        self.four = four
        self.shared = DiskRunner(four.home, "shared")
        self.shared.wait_for_each_other()
        self.large = DiskRunner(four.home, "large")
        self.large.has_one_job(200 << 20)
        self.failing = DiskRunner(four.home, "failing")
        self.failing.has_one_job(20 << 20)
        fail_once(self.failing, "R0.dat")
        self.unseen = UnseenRunner(four.home, "unseen", jobs=1)
        look_around(self.unseen)
        self.unseen.planned("run", *PERSISTENT)
        self.moved = self.unseen.start("run")
        self.running = self.shared.begin("--bb-chains", "auto")
        self.held, self.retried = self.large.begin(), self.failing.begin()

    def asked(self) -> dict[str, list[str]]:
        """Node -> the gres of the jobs with one that run there."""
        words = ("--states=R", "--Format=NodeList:.20,tres-per-node:.40")
        found: dict[str, list[str]] = {}
        for line in self.four.run("root", "squeue", "-h", *words).out.splitlines():
            node, gres = line.split()
            found.setdefault(node, []).append(gres) if gres != "N/A" else None
        return found

    def notes(self) -> list[dict[str, Any]]:
        """Of the chains of the run."""
        folder = self.shared.submit_dir("run") / "bb/stage_out"
        return [json.loads(path.read_text()) for path in folder.glob("merge_*.json")]


def fail_once(runner: WorkflowRunner, output: str) -> None:
    """Let the first try of the job that makes ``output`` fail."""
    task = runner.root / "mix.py"
    more = FAILS.format(output=output, marker=str(runner.root / "has-failed"))
    task.write_text(task.read_text().replace("time.sleep(0.02)", more))


def left_on_disks(home: Home) -> set[str]:
    disks = [nodes.disk_of(home, name) for name in NODES]
    found = call(home, ["ls", "-A", *map(str, disks)]).out.split()
    return {
        name
        for name in found
        if not name.startswith(("/", "lost+found", "condor", nodes.TMP_OF_JOBS))
    }


def _workflow() -> dict[str, Any]:
    def job(ident: str, inputs: list[str]) -> dict[str, Any]:
        uses: list[dict[str, Any]] = [{"lfn": lfn, "type": "input"} for lfn in inputs]
        output = f"{ident}.dat"
        made = {"lfn": output, "type": "output", "metadata": {"size": len(BIG)}}
        made |= {"stageOut": ident[0] == "S", "registerReplica": False}
        words = {"type": "job", "name": "mix", "id": ident}
        return {**words, "arguments": [output, *inputs], "uses": [*uses, made]}

    readers = [job(ident, ["big.dat"]) for ident in READERS]
    after = [job(f"S{ident}", [f"{ident}.dat"]) for ident in READERS]
    return {"pegasus": "5.0.4", "name": "shared", "jobs": [*readers, *after]}


@pytest.fixture(scope="module")
def four(home: Home, python_inside: None) -> Iterator[LuaSite]:
    forget_unseen(home)
    site.write_settings(home, len(NODES))
    slurm = LuaSite(home)
    try:
        yield slurm
    finally:
        slurm.run("root", "condor_rm", "-all")
        site.write_settings(home, 1)
        site.forget_jobs(home, POOL)
        forget_unseen(home)


@pytest.fixture(scope="module")
def stories(four: LuaSite) -> Stories:
    return Stories(four)


def test_check_knows_what_nodes_have(stories: Stories) -> None:
    runner = stories.shared
    found = runner.check(*TRANSIENT, "--bb-chains", "auto")
    (said,) = (what for _, about, what in found if about == "slurm")
    assert (
        said == "nodes have the gres nvme, 60 of it at most; a job asks for 5 at most"
    )
    (wrong,) = stories.large.wrong(*TRANSIENT)
    assert "R0 asks for 233 of the gres nvme, and no node has more than 60" in wrong
    runner.has(**{**TIER, "request": "--gres=ssd:{gb}"})
    (wrong,) = runner.wrong(*TRANSIENT)
    assert "no node has the gres ssd, which tier nvme asks for" in wrong


def test_a_job_that_no_node_has_room_for_is_told(stories: Stories) -> None:
    run = stories.held
    run.until(lambda: "mix_R0 is held" in run.output())
    assert "Requested node configuration is not available" in run.output()


def test_eight_chains_bring_a_shared_input_four_times(stories: Stories) -> None:
    run = stories.running
    two_on_each = {name: ["gres/nvme:5"] * 2 for name in NODES}
    run.until(lambda: stories.asked() == two_on_each)
    (stories.shared.here / "go").touch()
    done = run.end()
    assert done.status == 0, done.err
    notes = stories.notes()
    assert [sum(note[key] for note in notes) for key in ("brought", "cached")] == [4, 4]
    digest = hashlib.sha256(BIG).hexdigest().encode()
    made = digest + b"\n" + BIG
    result = hashlib.sha256(made).hexdigest().encode() + b"\n" + made
    assert stories.shared.content("run") == {f"S{x}.dat": result for x in READERS}
    assert left_on_disks(stories.four.home) == {
        f"pegasus_bb-cache.{name}.1000" for name in NODES
    }


def test_the_next_try_of_a_job_asks_slurm_for_more(stories: Stories) -> None:
    done = stories.retried.end()
    assert done.status == 0, done.err
    known = stories.four.run("root", "scontrol", "show", "jobs").out
    asked = {int(size) for size in re.findall(r"TresPerNode=gres/nvme:(\d+)", known)}
    assert asked - {5, 233} == {26, 39}  # 5, 233: of the other runs


def test_with_the_service_nodes_see_no_file_of_a_user(stories: Stories) -> None:
    done = stories.moved.end()
    assert done.status == 0, done.err
    assert stories.unseen.content("run") == expected(1)


def test_producer_and_consumer_stay_on_their_node(stories: Stories) -> None:
    folder = stories.shared.submit_dir("run")
    chains = [read_records(path) for path in folder.glob("*/*/merge_*.out.*")]
    hosts = [[record.data["hostname"] for record in chain] for chain in chains]
    assert sorted(hosts) == [[name] * 2 for name in NODES for _ in range(2)]
    left = {lfn for note in stories.notes() for lfn in note["files"]}
    assert left == {f"S{ident}.dat" for ident in READERS}


def test_what_check_prints_looks_at_a_node(stories: Stories) -> None:
    words = (*SITE, *TRANSIENT, "--json", "workflow.yml")
    rows = json.loads(stories.large.bb("check", *words, timeout=120).out)
    (mend,) = (row["would_do"] for row in rows if row["about"] == "tier")
    command = mend.split("`")[1]
    assert command == "srun --gres=nvme:1 stat -f -c %T /nvme"
    said = stories.four.run("wfuser", *command.split())
    assert said.out.strip() in ("ext2/ext3", "tmpfs"), said.err


def test_a_slurmd_that_has_ended_is_started_again(four: LuaSite) -> None:
    home = four.home
    four.run("root", "pkill", "-KILL", "-F", "/run/slurmd.node2.pid")
    until(lambda: site.dead_daemons(home) == ["slurmd"])
    site.restart(home, "slurmd")
    assert site.dead_daemons(home) == []
    hosts = four.run("wfuser", "srun", "-N4", "cat", "/proc/sys/kernel/hostname")
    assert sorted(hosts.out.split()) == list(NODES), hosts.err


def test_each_job_has_a_tmp_of_its_own_on_the_disk_of_its_node(
    stories: Stories,
) -> None:
    four = stories.four
    look = "ls -A /tmp | wc -l; stat -c %a /tmp; df --output=target /tmp | tail -1"
    leave = "touch /tmp/left /var/tmp/left"
    for _ in range(2):
        said = four.run("wfuser", "srun", "-w", "node1", "sh", "-c", f"{look}; {leave}")
        assert said.out.split() == ["0", "700", "/tmp"]
    disk = str(nodes.disk_of(four.home, "node1"))
    until(lambda: "left" not in four.run("root", "find", disk).out)  # after srun's end
