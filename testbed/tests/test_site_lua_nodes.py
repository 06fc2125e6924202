"""Jobs whose data lies on the storage of their node, on a real Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_testbed import lua
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import ON_LUA, LuaSite
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
NOTHING = {"buffers": [], "kept": []}
NODE = "/run/pegasus-bb-node"


class NodeSite(LuaSite):
    def staged(self, name: str, *commands: str) -> str:
        """A job that reads in.txt and leaves out-NAME, both on its node."""
        lines = (f"stage_in {self.work}/in.txt node://in.txt",)
        out = f"stage_out node://out.txt {self.work}/out-{name}"
        work = " cat $BB_NODE/in.txt > $BB_NODE/out.txt; id -un >> $BB_NODE/out.txt"
        return self.submit("wfuser", f"{name}.sh", *lines, out, work, *commands)

    def result(self, name: str) -> str:
        return (self.work / f"out-{name}").read_text()

    @property
    def folders(self) -> list[Path]:
        """Those of jobs on the node."""
        return list((self.home.root / lua.NVME.lstrip("/")).glob("job.*"))

    def comment(self, number: str) -> str:
        """What Slurm keeps of our sentences."""
        said = self.run("root", "scontrol", "show", "job", number).out
        return said.partition("SystemComment=")[2].split("\n")[0]

    def waiting(self) -> list[str]:
        rows = self.bbstat("root", "list")["ok"]["nodes"]
        return [row["message"] for row in rows]


@pytest.fixture
def slurm(home: Home) -> NodeSite:
    return NodeSite(home)


def test_data_goes_to_the_node_and_out_again(slurm: NodeSite) -> None:
    slurm.file("in.txt")
    number = slurm.staged("both", f" echo $BB_NODE > {slurm.work}/where")
    slurm.completed(number)
    assert slurm.result("both") == "an input\nwfuser\n"
    assert (slurm.work / "where").read_text().startswith(f"{lua.NVME}/job.{number}.")
    until(lambda: slurm.folders == [] and slurm.left() == NOTHING)


def test_a_job_does_not_start_without_its_data(slurm: NodeSite) -> None:
    number = slurm.staged("never", f" touch {slurm.work}/ran")
    until(lambda: "in.txt: No such file" in slurm.comment(number))
    assert slurm.state(number) == "PENDING"  # Slurm tries again two minutes later
    until(lambda: slurm.folders == [] and slurm.busy_cpus() == 0)
    assert not (slurm.work / "ran").exists()


def test_the_nodes_service_is_killed_before_and_after_the_job(slurm: NodeSite) -> None:
    slurm.file("in.txt")
    go = slurm.work / "go"
    slurm.control("pause", NODE)
    number = slurm.staged("killed", f" until [ -e {go} ]; do sleep 0.2; done")
    until(lambda: slurm.folders)
    assert slurm.state(number) == "CONFIGURING"
    lua.kill_node(slurm.home)
    lua.start_node(slurm.home)
    until(lambda: slurm.state(number) == "RUNNING")
    lua.kill_node(slurm.home)
    go.touch()
    until(lambda: slurm.state(number) == "STAGE_OUT")
    until(lambda: slurm.waiting() == ["its service does not run"])
    lua.start_node(slurm.home)
    slurm.completed(number)
    assert slurm.result("killed") == "an input\nwfuser\n"
    until(lambda: slurm.folders == [])


def test_results_stay_on_the_node_until_they_can_be_saved(slurm: NodeSite) -> None:
    slurm.file("in.txt")
    (slurm.work / "out-full").mkdir()
    (slurm.work / "out-full" / "in the way").touch()
    number = slurm.staged("full")
    until(lambda: slurm.left()["kept"], 120)
    [kept] = slurm.left()["kept"]
    assert (kept["job"], len(kept["nodes"])) == (int(number), 1)
    assert "out-full" in kept["message"]
    assert len(slurm.folders) == 1
    (slurm.work / "out-full" / "in the way").unlink()
    (slurm.work / "out-full").rmdir()
    slurm.kill_service()
    until(lambda: slurm.left() == NOTHING)
    assert slurm.result("full") == "an input\nwfuser\n"
    until(lambda: slurm.folders == [])
