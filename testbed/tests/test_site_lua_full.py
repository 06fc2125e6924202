"""Results that go to a file system which is full: kept, and saved when it is mended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.site import must

from testbed.tests.lua_site import ON_LUA, LuaSite
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
LARGE = os.urandom(3 << 20)
NOTHING = {"buffers": [], "kept": []}


class FullSite(LuaSite):
    """The dataspace ``full`` is a file system of 1 MiB; users see it inside alone."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.full = f"{self.work}/full"
        Path(self.full).mkdir()
        self.mount("tmpfs", "size=1m,mode=1777")
        (self.work / "large").write_bytes(LARGE)
        self.configure({"full": {"path": self.full}})

    def mount(self, what: str, options: str) -> None:
        must(self.home, ["mount", "-t", what, "-o", options, "tmpfs", self.full])

    def enlarge(self) -> None:
        must(self.home, ["mount", "-o", "remount,size=20m", self.full])

    def saves(self, name: str, where: str) -> str:
        """A job whose two results are larger than ``full``: a file, and one in a
        folder."""
        lines = ("jobbb capacity=20MiB pool=flash",) * (where == "job")
        outs = [
            f"stage_out {where}://{what} full://{name}/{what}" for what in ("a", "d")
        ]
        make = f" cd $BB_{where.upper()}; mkdir d; cp {self.work}/large a; cp a d/b"
        stage = () if where == "job" else (f"stage_in {self.work}/small node://small",)
        return self.submit("wfuser", f"{name}.sh", *lines, *stage, *outs, make)

    def inside(self, *argv: str) -> str:
        done = self.run("root", *argv)
        assert done.status == 0, done.err
        return done.out


@pytest.fixture
def slurm(home: Home) -> Iterator[FullSite]:
    site = FullSite(home)
    yield site
    site.kill(service=True, slurmctld=False)  # its workers stand in the folder
    must(home, ["umount", site.full])


def test_results_onto_a_full_file_system_are_kept_and_saved_when_there_is_room(
    slurm: FullSite,
) -> None:
    slurm.file("small")
    jobs = {where: slurm.saves(where, where) for where in ("job", "node")}
    until(lambda: len(slurm.left()["kept"]) == 2)
    for kept in slurm.left()["kept"]:
        assert "No space left on device" in kept["message"]
    for number in jobs.values():
        slurm.completed(number)
    slurm.kill(service=True, slurmctld=False)  # it tries again, and there is no room
    assert len(slurm.left()["kept"]) == 2
    slurm.enlarge()
    slurm.kill(service=True, slurmctld=False)  # else it tries again after a minute
    until(lambda: slurm.left() == NOTHING)
    for where in jobs:
        for result in ("a", "d/b"):
            slurm.inside("cmp", f"{slurm.work}/large", f"{slurm.full}/{where}/{result}")
    found = slurm.inside("find", slurm.full, "-type", "f", "-printf", "%P\n").split()
    assert sorted(found) == ["job/a", "job/d/b", "node/a", "node/d/b"]
    until(lambda: not any((slurm.home.root / "bb").iterdir()))
