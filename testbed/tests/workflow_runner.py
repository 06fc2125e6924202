"""A user of the testbed's submit host: plans and runs workflows there as wfuser.

The site is that of tests/end_to_end, with Slurm behind HTCondor, and DataWarp in place
of a folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call, inside

import tests.support.user_site as end_to_end
from pegasus_bb.core.process import Finished, ask
from pegasus_bb.run.engine.jobstate_log import read_history
from tests.support.real_pegasus import HOME, MARKS
from tests.support.trees import contents
from tests.support.waiting import until

USER = "wfuser"
UID = 1000
PROJECT = Path(__file__).parents[2]
PERSISTENT = ("--bb-mode", "persistent", "--cleanup", "none")
TIER = {
    "name": "bb",
    "backend": "datawarp",
    "pool": "wlm_pool",
    "granularity": "1MiB",
    "capacity": "auto",
    "mount": "any",
}
LUA_TIER = {
    "name": "bb",
    "backend": "slurm-lua",
    "pool": "flash",
    "granularity": "1MiB",
    "capacity": "auto",
}
PROFILES = {
    "condor": {"grid_resource": "batch slurm"},
    "pegasus": {
        "style": "glite",
        "auxillary.local": "false",
    },
}

# A Pegasus below /usr cannot be shown inside.
SHOWN = HOME if HOME and HOME.bin.parent not in (Path("/usr"), Path("/")) else None
REAL = [
    *MARKS,
    pytest.mark.skipif(SHOWN is None, reason="no Pegasus in a folder of its own"),
]
PLANNERS = ["builtin", pytest.param("pegasus", marks=REAL)]


class UserCommands:
    """Runs commands inside, as ``wfuser``, in ``work`` below ``root``."""

    home: Home
    root: Path
    planner = "builtin"  # or pegasus, the real one
    site = "cluster"

    def argv(self, *argv: str) -> list[str]:
        return inside(self.home, argv, USER, str(self.root / "work"))

    def ask(self, *argv: str, timeout: float = 60.0) -> Finished:
        return ask(self.argv(*argv), timeout=timeout)

    def bb(self, *arguments: str, timeout: float = 60.0) -> Any:
        return self.ask(sys.executable, "-m", "pegasus_bb", *arguments, timeout=timeout)

    def ls(self) -> dict[str, Any]:
        """The rows of ``ls``, by name; other stories leave lines on the ledger, too."""
        done = self.bb("ls", "--json")
        assert done.status == 0, done.err
        return {row["name"]: row for row in json.loads(done.out)}

    def submit_dir(self, run: str) -> Path:
        return self.submits / run

    @property
    def submits(self) -> Path:
        """Where submit directories are."""
        return self.root / "submit"

    def results(self, run: str) -> Path:
        return self.root / f"results-{run}"

    def content(self, run: str) -> dict[str, bytes]:
        return contents(self.results(run))

    def planned(self, run: str, *more: str) -> Path:
        site = ("--sites", self.site, "--output-sites", "local", "--bb-poll", "2s")
        places = ("--output-dir", str(self.results(run)), "--relative-submit-dir", run)
        folder = ("--dir", str(self.submits), "--bb-planner", self.planner)
        argv = (*site, *places, *folder, *more, "workflow.yml")
        done = self.bb("plan", *argv, timeout=300.0)  # beside others, on few cores
        assert done.status == 0, done.err
        return self.submit_dir(run)

    def reservation(self, run: str) -> str:
        """The name that was chosen when ``run`` was planned."""
        file = self.submit_dir(run) / "bb" / "request.json"
        return str(json.loads(file.read_text())["name"])

    def start(self, run: str, *more: str) -> BackgroundCommand:
        """``pegasus-bb run`` in the background."""
        argv = [sys.executable, "-m", "pegasus_bb", "run", *more]
        words = self.argv(*argv, str(self.submit_dir(run)))
        return BackgroundCommand(words, lambda: site_state(self.home))

    def run_to_the_end(self, run: str, *more: str) -> Finished:
        return self.start(run, *more).end()

    def run_well(self, run: str, *more: str) -> Finished:
        done = self.run_to_the_end(run, *more)
        assert done.status == 0, done.err
        return done

    def run_again(self, run: str, *more: str) -> set[str]:
        """Run it again, to a good end: the nodes that were started this time."""
        journal = self.submit_dir(run) / "jobstate.log"
        before = len(read_history(journal).events)
        self.run_well(run, *more)
        events = read_history(journal).events[before:]
        return {event.node for event in events if event.event == "SUBMIT"}

    def give_to_user(self) -> None:
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, UID, UID)


class WorkflowRunner(UserCommands, end_to_end.Site):  # type: ignore[misc]
    """Has the diamond of tests/end_to_end."""

    def __init__(
        self, home: Home, name: str, jobs: int = 0, planner: str = "builtin"
    ) -> None:
        self.home, self.jobs = home, jobs  # jobs: of the diamond, 0 for all
        self.planner = planner
        root = self._runs() / name
        root.mkdir()
        super().__init__(root)
        task = root / "mix.py"
        text = task.read_text().replace(sys.executable, "/usr/bin/python3")
        task.write_text(text)
        self.give_to_user()

    def _runs(self) -> Path:
        return runs_folder(self.home, self.planner)

    def write(self) -> None:
        super().write()
        workflow = self.document("workflow.yml")
        if self.planner == "pegasus":  # which leaves making folders to the task
            text = json.dumps(workflow).replace("sub/c.dat", "c.dat")
            workflow = json.loads(text)
            self.save("workflow.yml", workflow)
        if not self.jobs:
            return
        workflow["jobs"] = workflow["jobs"][: self.jobs]
        for use in workflow["jobs"][-1]["uses"]:
            if use["type"] == "output":
                use["stageOut"] = True
        self.save("workflow.yml", workflow)

    def _sites(self) -> dict[str, Any]:
        return behind_slurm(super()._sites(), self.planner, self.home)


class ExampleRunner(UserCommands):
    """Has one of examples/, as its generator makes it, in a small size."""

    SMALL: ClassVar = {
        "cybershake": "--points 200 --timesteps 200 --ruptures 4 --processes 1",
        "1000genome": "--rows 40 --chromosomes 1 --individuals-jobs 2"
        " --populations EUR",
    }

    def __init__(self, home: Home, name: str, planner: str) -> None:
        self.home, self.planner = home, planner
        self.root = self._runs() / name
        self.work = self.root / "work"
        generator = PROJECT / "examples" / name / "workflow_generator.py"
        places = ["--output-dir", str(self.work), "--scratch", str(self.root / "pfs")]
        argv = [sys.executable, str(generator), *places, *self.SMALL[name].split()]
        subprocess.run(argv, check=True, capture_output=True)
        sites = yaml.safe_load((self.work / "sites.yml").read_text())
        text = yaml.safe_dump(behind_slurm(sites, self.planner, self.home))
        (self.work / "sites.yml").write_text(text)
        self.give_to_user()

    def _runs(self) -> Path:
        return runs_folder(self.home, self.planner)


def behind_slurm(sites: dict[str, Any], planner: str, home: Home) -> dict[str, Any]:
    """A site catalog whose cluster is the testbed's Slurm."""
    environ = {}
    if planner == "pegasus" and SHOWN is not None:
        environ["PEGASUS_HOME"] = str(SHOWN.bin.parent)
    sites["x-storage-tiers"] = {
        "cluster": [LUA_TIER if home.flavour.plugin == "lua" else TIER]
    }
    [cluster] = [site for site in sites["sites"] if site["name"] == "cluster"]
    cluster["profiles"] = {**PROFILES, "env": environ}
    return sites


def site_state(home: Home) -> str:
    """What Slurm and HTCondor have, and Slurm's last lines, for a failure."""
    asked = [
        ["scontrol", "show", "job"],
        ["scontrol", "show", "burst"],
        ["scontrol", "show", "nodes"],
        ["condor_q", "-allusers", "-nobatch"],
        ["condor_q", "-allusers", "-af", "ClusterId", "JobStatus", "GridJobId"],
        ["tail", "-n", "80", "/var/log/slurm/slurmctld.log"],
        ["tail", "-n", "40", "/opt/dw/calls.jsonl"],
    ]
    answers = ((" ".join(argv), call(home, argv)) for argv in asked)
    return "\n".join(f"== {words}\n{said.out}{said.err}" for words, said in answers)


def expected(jobs: int) -> dict[str, bytes]:
    """What the last of the first ``jobs`` of the diamond writes."""
    *_, last = end_to_end.computed(jobs).items()
    return dict([last])


def runs_folder(home: Home, planner: str = "builtin") -> Path:
    path = home.work / "dagman-tests" / planner
    path.mkdir(parents=True, exist_ok=True)
    return path


class BackgroundCommand:
    """A command whose output is read while it runs."""

    def __init__(self, argv: list[str], state: Callable[[], str] = lambda: "") -> None:
        """``state``: of what it waits for, for a failure."""
        self._state = state
        self._err = tempfile.TemporaryFile()  # noqa: SIM115 - it outlives this call
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        self.process = subprocess.Popen(argv, stderr=self._err, **quiet)

    def output(self) -> str:
        """Its stderr so far."""
        size = os.fstat(self._err.fileno()).st_size
        return os.pread(self._err.fileno(), size, 0).decode(errors="replace")

    def until(self, true: Callable[[], Any], seconds: float = 120.0) -> Any:
        """What ``true`` answers once that is something; it may not end before."""
        return until(lambda: true() or self._assert_alive(), seconds)

    def _assert_alive(self) -> None:
        if self.process.poll() is not None:
            raise AssertionError(f"it has ended: {self.end()}")

    def end(self, seconds: float = 500.0) -> Finished:
        try:
            self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            state = self._state()
            self.process.kill()
            self.process.wait()
            said = f"no end in {seconds:g} s: {self.output()}\n{state}"
            raise AssertionError(said) from None
        return Finished(self.process.returncode, "", self.output())
