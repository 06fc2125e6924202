"""Two users and an administrator on a Slurm with burst_buffer/lua."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed import lua, site
from pegasus_bb_testbed.home import DEFAULT, Home, flavour
from pegasus_bb_testbed.namespace import call

import pegasus_bb
from pegasus_bb.core.process import Finished
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends import slurm_lua
from pegasus_bb.runtime.backends.scontrol import PersistentBuffer
from pegasus_bb.runtime.backends.slurm_lua import SlurmLua
from testbed.tests.slurm_site import SlurmSite, on_sites
from tests.support.waiting import until


def on_plugins(*plugins: str) -> Any:
    """A mark: the test runs on the testbeds with these plugins of Slurm."""
    return on_sites({plugin: flavour(DEFAULT.slurm, plugin) for plugin in plugins})


ON_LUA = on_plugins("lua")
ON_EACH_PLUGIN = on_plugins("datawarp", "lua")
_CONTROL = (
    "import sys; from pegasus_bb.runtime.stager_client.client import Client; "
    "Client(sys.argv[2] + '/control').ask(sys.argv[1])"
)


class LuaSite(SlurmSite):
    """Jobs have directives, and the service can be paused and killed."""

    def submit(self, user: str, name: str, *lines: str, options: str = "") -> str:
        """A job of one CPU; lines with a blank in front of them are its commands."""
        text = [x.strip() if x.startswith(" ") else f"#BB_LUA {x}" for x in lines]
        script = self.script(name, *text)
        return self.sbatch(user, *options.split(), script)

    def file(self, name: str, text: str = "an input\n") -> Path:
        path = self.work / name
        path.write_text(text)
        path.chmod(0o666)
        return path

    def bbstat(self, user: str, *words: str) -> dict[str, Any]:
        done = self.run(user, "scontrol", "show", "bbstat", *words)
        answer: dict[str, Any] = json.loads(done.out)
        return answer

    def hold(self, user: str, name: str, size: int) -> None:
        words = (f"name={name}", f"capacity={size}", "uuid=theirs")
        assert "ok" in self.bbstat(user, "create", *words)
        until(lambda: name in self.buffers())

    def give_back(self, user: str, name: str) -> None:
        self.bbstat(user, "delete", f"name={name}")
        until(lambda: name not in self.buffers())

    def buffers(self) -> dict[str, PersistentBuffer]:
        """Those that are there."""
        rows = self.bbstat("root", "list")["ok"]["buffers"]
        keys = ("name", "state", "state", "size", "created", "pool", "user", "uid")
        found = [PersistentBuffer(*(row[key] for key in keys)) for row in rows]
        return {buffer.name: buffer for buffer in found if buffer.native == "ready"}

    def job_buffers(self) -> list[str]:
        """The rows of jobs whose results the service keeps."""
        return [f"JobID={row['job']} " for row in self.left()["kept"]]

    def left(self) -> dict[str, Any]:
        ok = self.bbstat("root", "list")["ok"]
        return {key: ok[key] for key in ("buffers", "kept")}

    def state(self, number: str) -> str:
        done = self.run("root", "squeue", "-h", "-tall", f"-j{number}", "-o%T")
        return done.out.strip()

    def reason(self, number: str) -> str:
        done = self.run("root", "squeue", "-h", "-tall", f"-j{number}", "-o%r")
        return done.out.strip()

    def busy_cpus(self) -> int:
        done = self.run("root", "sinfo", "-h", "-o%C")  # allocated/idle/other/total
        return int(done.out.split("/")[0])

    def is_at_work(self) -> bool:
        """Whether the service has jobs that Slurm has not torn down yet."""
        jobs = [path.name for path in self.told.iterdir() if path.name.isdigit()]
        return any(self.known(number) != "gone" for number in jobs)

    @property
    def told(self) -> Path:
        """Where the service tells the hooks of jobs."""
        return self.home.root / lua.SPOOL.lstrip("/") / "jobs"

    def known(self, number: str) -> str:
        """What the service has told the hooks of a job."""
        try:
            text = (self.told / number).read_text()
        except FileNotFoundError:
            return ""
        return dict(x.split("=", 1) for x in text.splitlines()).get("state", "")

    def completed(self, number: str, seconds: float = 120.0) -> None:
        until(lambda: self.state(number) == "COMPLETED", seconds)

    def await_saved_buffers(self) -> None:
        """Back when slurmctld has written down its burst buffers, as it does every
        30 s; what it forgets when it is killed before is not ours to mend."""
        since = time.time()
        until(lambda: self.saved_at("burst_buffer_lua_state") > since, 60)

    def await_saved_jobs(self, number: str) -> None:
        """Back when slurmctld has written down its jobs. It counts in whole seconds,
        and does not write twice for changes of one: ``number`` is a job to change."""
        since = time.time() + 1
        change = ("scontrol", "update", f"jobid={number}", "comment=saved")
        until(lambda: self.run("root", *change) and self.saved_at("job_state") > since)

    def saved_at(self, name: str) -> float:
        file = self.home.root / "var/spool/slurmctld" / name
        return file.stat().st_mtime if file.exists() else 0.0

    def is_lost(self, number: str) -> bool:
        """Whether Slurm has killed the teardown that its scancel had begun: now and
        then it does, and forgets the buffer until slurmctld is started anew."""
        words = f"teardown for JobId={number} terminated by slurmctld"
        return words in self.controller_log()

    def controller_log(self) -> str:
        """What slurmctld has logged since its start."""
        log = (self.home.root / "var/log/slurm/slurmctld.log").read_text()
        return log.rpartition("slurmctld version")[2]

    def control(self, what: str, sockets: str = "/run/pegasus-bb") -> None:
        package = str(Path(pegasus_bb.__file__).resolve().parents[1])
        python = ["env", f"PYTHONPATH={package}", "/usr/bin/python3", "-c", _CONTROL]
        answer = call(self.home, [*python, what, sockets])
        assert answer.status == 0, answer.err

    def configure(self, spaces: dict[str, dict[str, str]], workers: int = 8) -> None:
        """Both services have these dataspaces, too, from now on."""
        for name in ("stager.json", "node.json"):
            file = self.home.root / "etc/pegasus-bb" / name
            config = json.loads(file.read_text())
            config["dataspaces"] |= spaces
            file.write_text(json.dumps({**config, "workers": workers}))
        self.kill_service()

    def signal(self, name: str, *, workers: bool = True) -> None:
        """Send SIGNAME to both services, and to their workers."""
        pattern = lua.PATTERN.strip() if workers else lua.PATTERN
        call(self.home, ["pkill", f"-{name}", "-f", pattern])
        if name == "CONT":
            lua.wake()

    def kill_service(self) -> None:
        """SIGKILL, and a new start."""
        lua.kill_service(self.home)
        self.signal("CONT")  # a worker that a test has stopped ends now
        lua.start_service(self.home)


class LuaContractBench(LuaSite):
    """The contract's bench: wfuser's backend asks Slurm inside, as other users do."""

    def __init__(self, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(home)
        monkeypatch.setattr(slurm_lua, "ask", self._ask)
        self.backend = SlurmLua({"timeout": "60s", "poll": "0"})
        self.backend.owner, self.backend.uid = "wfuser", site.USERS["wfuser"]

    def _ask(self, argv: list[str], timeout: float) -> Finished:
        return self.run("wfuser", *argv)

    def occupy(self, name: str) -> str:
        self.hold("other", name, 10 * MIB)
        return "other"

    def fill(self) -> None:
        self.hold("other", "filler", 1000 * MIB)

    def free(self) -> None:
        self.give_back("other", "filler")

    def go_down(self) -> None:
        site.stop_controller(self.home)

    def environ(self, request: Request) -> Mapping[str, str]:
        """As a job finds it, with the path as seen from here."""
        seen = self.work / "seen"
        seen.unlink(missing_ok=True)
        show = f" echo $BB_PERSISTENT_{request.name} > {seen}"
        number = self.submit("wfuser", "see.sh", f"persist use {request.name}", show)
        self.completed(number)
        until(lambda: seen.read_text().strip())
        path = seen.read_text().strip()
        return {f"BB_PERSISTENT_{request.name}": f"{self.home.root}{path}"}
