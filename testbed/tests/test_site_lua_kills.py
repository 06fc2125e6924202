"""slurmctld and the service are killed while there is a job in every state.

What moves is in the middle of a file, since its dataspace has a rate.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from pegasus_bb_testbed import lua, namespace, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.lua_site import ON_LUA, LuaSite
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
RATE = "2MB/s"
LARGE = os.urandom(1 << 16) * 366  # 24 MB, which take 12 s at that
OWN = "jobbb capacity=50MiB pool=flash"
NOTHING = {"buffers": [], "kept": []}
ALL_CPUS = f"--ntasks={4 * (os.cpu_count() or 1)} --time=5"
# minutes: Slurm can plan
LONG = "--time=30"
SHORT = "--time=5"


def has_part(process: int) -> bool:
    """Whether the process is copying a file."""
    for handle in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(OSError):  # closed meanwhile
            if str(handle.readlink()).endswith(".part"):
                return True
    return False


class EveryState(LuaSite):
    """Each job makes out-NAME of in.dat and is held where its name says."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self.numbers: dict[str, str] = {}
        spaces = {}
        for name in ("slow-in", "slow-out", "slow-node"):
            folder = self.work / name
            folder.mkdir()
            folder.chmod(0o1777)
            (folder / "in.dat").write_bytes(LARGE)
            spaces[name] = {"path": str(folder), "rate": RATE}
        (self.work / "in.dat").write_bytes(LARGE)
        self.configure(spaces)

    def begin(self, name: str, *lines: str, options: str = SHORT) -> None:
        self.numbers[name] = self.submit(
            "wfuser", f"{name}.sh", *lines, options=options
        )

    def out(self, name: str) -> str:
        return f"{self.work}/out-{name}"

    def copies(self, name: str, *commands: str, options: str = SHORT) -> None:
        """A job that makes out-NAME through a buffer of its own."""
        lines = (OWN, f"stage_out job://out.dat {self.out(name)}")
        copy = f" cp {self.work}/in.dat $BB_JOB/out.dat"
        self.begin(name, *lines, copy, *commands, options=options)

    def go(self, name: str) -> str:
        """A command that waits for the file go-NAME."""
        return f" until [ -e {self.work}/go-{name} ]; do sleep 0.2; done"

    def is_at(self, name: str, known: str) -> Callable[[], bool]:
        return lambda: self.known(self.numbers[name]) == known

    def hold_all(self) -> None:
        """Back when all are there, and slurmctld has written down what it does."""
        words = ("name=filler", f"capacity={450 << 20}", "uuid=theirs")
        assert "ok" in self.bbstat("other", "create", *words)
        self.copies("pending", options=f"--hold {SHORT}")
        self.copies("running", self.go("running"), options=LONG)
        self.begin(
            "noted",
            "persist store Roomy size=600MiB",
            "persist delete Roomy",
            "stage_in work://site-tests/in.dat bb://Roomy/in.dat",
            f"stage_out bb://Roomy/in.dat {self.out('noted')}",
            " true",
        )
        absent = f"stage_in {self.work}/absent job://out.dat"
        out = f"stage_out job://out.dat {self.out('failed-in')}"
        self.begin("failed-in", OWN, absent, out, " true")
        Path(self.out("kept"), "in the way").mkdir(parents=True)
        self.copies("kept")
        out = f"stage_out job://out.dat {self.work}/slow-out/out.dat"
        copy = f" cp {self.work}/in.dat $BB_JOB/out.dat"
        lines = (OWN, out, copy, self.go("staging-out"))
        self.begin("staging-out", *lines, options=LONG)
        for name in ("running", "staging-out"):
            until(self.is_at(name, "running"))
        until(self.is_at("noted", "noted"))
        until(lambda: "No such file" in self.reason(self.numbers["failed-in"]))
        until(lambda: self.left()["kept"])
        lines = (OWN, "stage_in slow-in://in.dat job://out.dat")
        out = f"stage_out job://out.dat {self.out('staging-in')}"
        self.begin("staging-in", *lines, out, " true")
        self.freeze_copies(1)
        (self.work / "go-staging-out").touch()
        self.freeze_copies(2)
        self.await_saved_buffers()
        line = "stage_in slow-node://in.dat node://out.dat"
        out = f"stage_out node://out.dat {self.out('configuring')}"
        self.begin("configuring", line, out, " true")
        self.freeze_copies(3)
        for name in ("staged-in", "teardown"):
            self.copies(name, options=ALL_CPUS)
            until(self.is_at(name, "staged-in"))
        self.signal("STOP")
        self.run("wfuser", "scancel", self.numbers["teardown"])
        number = self.numbers["teardown"]
        until(lambda: self.is_noted(number) or self.is_lost(number))
        self.await_saved_jobs(self.numbers["pending"])

    def freeze_copies(self, number: int) -> None:
        """Stop the workers that copy when so many files are half copied. One that is
        idle would be given the next file, and goes on."""
        until(lambda: len(self.parts()) == number)
        holder = namespace.holder_of(self.home)
        assert holder is not None
        for process in filter(has_part, namespace.processes(holder)):
            os.kill(process, signal.SIGSTOP)
        assert len(self.parts()) == number

    def is_noted(self, number: str) -> bool:
        requests = self.home.root / lua.SPOOL.lstrip("/") / "requests"
        return any(requests.glob(f"*.{number}.teardown"))

    def parts(self) -> list[Path]:
        """The files that are being copied: some bytes are there, and not all."""
        bb = self.home.root / lua.BB.lstrip("/")
        nvme = self.home.root / lua.NVME.lstrip("/")
        places = (bb.glob("job.*"), nvme.glob("job.*"), [self.work / "slow-out"])
        found = [part for place in places for f in place for part in f.glob(".*.part")]
        return [part for part in found if 0 < part.stat().st_size < len(LARGE)]

    def let_go(self) -> None:
        """What held the jobs is mended."""
        self.signal("CONT")
        (self.work / "absent").write_bytes(LARGE)
        (self.work / "go-running").touch()
        self.run("other", "scontrol", "show", "bbstat", "delete", "name=filler")
        for name in ("pending", "failed-in"):
            self.run("root", "scontrol", "release", self.numbers[name])

    def have_all(self) -> None:
        """Each job has ended well, its results are whole, and nothing is left."""
        for name, number in self.numbers.items():
            if name != "teardown":
                self.completed(number, 300)
        until(lambda: self.left() == NOTHING)
        for name in self.numbers:
            if name not in ("teardown", "staging-out"):
                assert Path(self.out(name)).read_bytes() == LARGE, name
        assert (self.work / "slow-out" / "out.dat").read_bytes() == LARGE
        bb = self.home.root / lua.BB.lstrip("/")
        # Four minutes and a tick where the one teardown is lost: then squeue is asked.
        until(lambda: not any(bb.iterdir()), 300)
        assert self.parts() == []


@pytest.fixture
def slurm(home: Home) -> EveryState:
    return EveryState(home)


def test_all_go_on_after_a_kill(slurm: EveryState) -> None:
    """Of the service and of slurmctld, both twice within a minute."""
    slurm.hold_all()
    Path(slurm.out("kept"), "in the way").rmdir()
    Path(slurm.out("kept")).rmdir()  # which is seen when it is tried again
    for _ in range(2):
        call(slurm.home, ["pkill", "-KILL", "-x", "slurmctld"])
        slurm.kill_service()
        site.start_controller(slurm.home)
    slurm.let_go()
    slurm.have_all()
