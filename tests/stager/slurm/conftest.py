"""The service with Slurm's part, and burst_buffer.lua called as Slurm calls it."""

from __future__ import annotations

import importlib
import json
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.stager.slurm.hooks import hooks_text
from tests.stager.conftest import Daemon

ME = os.getuid()
_SITE_OF_ONE = "" if ME == 0 else "capabilities.NEEDED.clear(); "  # its only user is ME
SERVE = (
    "import sys; from pegasus_bb.stager import __main__ as program, capabilities; "
    "from pegasus_bb.stager.slurm import attendant; "
    f"attendant._TIDY = float(sys.argv.pop()); {_SITE_OF_ONE}sys.exit(program.main())"
)
SUCCESS = 0
ERROR = -1


class Hooks:
    """burst_buffer.lua in a Lua of its own, as every process of Slurm has one."""

    def __init__(self, spool: Path, version: str = "lua51") -> None:
        lua = importlib.import_module(f"lupa.{version}")
        self._lua = lua.LuaRuntime(unpack_returned_tuples=True)
        log = self._lua.eval("function() end")
        slurm = {"SUCCESS": SUCCESS, "ERROR": ERROR, "log_error": log, "log_info": log}
        self._lua.globals().slurm = self._lua.table_from(slurm)
        self._lua.execute(hooks_text(str(spool)))

    def call(self, name: str, *words: Any) -> tuple[int, str]:
        shaped = [self._lua.table_from(w) if isinstance(w, dict) else w for w in words]
        answer = self._lua.globals()[f"slurm_bb_{name}"](*shaped)
        code, text = answer if isinstance(answer, tuple) else (answer, "")
        return int(code), str(text)

    def lua(self, text: str) -> Any:
        return self._lua.execute(text)


class SlurmSite(Daemon):
    """Dataspace lustre, pool flash of 10 MiB in granules of 1 MiB."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.spool, self.bb = folder / "spool", folder / "bb"
        self.lustre = folder / "lustre"
        self.lustre.mkdir()
        self.bb.mkdir()
        self.lua = "lua51"
        self.tidies_every = 60.0  # seconds
        self.user, self.before = pwd.getpwuid(ME).pw_name, list[str]()

    def configure(self) -> Path:
        pool = {"path": str(self.bb), "capacity": "10MiB", "granularity": "1MiB"}
        slurm = {"user": self.user, "spool": str(self.spool), "pools": {"flash": pool}}
        config = {
            "dataspaces": {"lustre": {"path": str(self.lustre)}},
            "state": str(self.folder / "var"),
            "sockets": str(self.sockets),
            "slurm": slurm,
        }
        path = self.folder / "stager.json"
        path.write_text(json.dumps(config))
        return path

    def serve(self) -> None:
        (self.spool / "alive").unlink(missing_ok=True)
        argv = [*self.before, sys.executable, "-c", SERVE]
        argv += ["--site", str(self.configure())]
        self.process = subprocess.Popen([*argv, str(self.tidies_every)])
        until(lambda: (self.spool / "alive").exists())

    @property
    def hooks(self) -> Hooks:
        """A Lua of its own for each call, as Slurm has it."""
        return Hooks(self.spool, self.lua)

    def ask_control(self, what: str) -> None:
        """What an administrator tells the service, such as pause."""
        with self.control() as client:
            client.ask(what)

    def file(self, name: str, text: str = "some text", uid: int = ME) -> Path:
        path = self.lustre / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.chown(path, uid, -1)
        return path

    def ask(self, *words: str, uid: int = ME) -> dict[str, Any]:
        """What ``scontrol show bbstat WORDS`` prints."""
        code, text = self.hooks.call("get_status", uid, uid, *words)
        assert code == SUCCESS and "\n" not in text
        answer: dict[str, Any] = json.loads(text)
        assert answer.pop("v") == 1
        return answer


class Job:
    """A job, and Slurm's calls for it in their order."""

    number = 1000

    def __init__(self, site: SlurmSite, *directives: str, uid: int = ME) -> None:
        Job.number += 1
        self.site, self.uid, self.id = site, uid, Job.number
        self.script = f"/var/spool/slurmctld/hash/job.{self.id}/script"
        self.lines = "\n".join(f"#BB_LUA {line}" for line in directives)

    def call(self, hook: str, **info: Any) -> tuple[int, str]:
        info = {"burst_buffer": self.lines, **info}
        words: list[Any] = [self.id, self.script, self.uid, self.uid, info]
        if hook == "setup":
            words = [self.id, self.uid, self.uid, None, 0, self.script, info]
        return self.site.hooks.call(hook, *words)

    def stage_in(self) -> tuple[int, str]:
        """From setup until Slurm would start the job, or hold it."""
        assert self.call("setup") == self.call("data_in") == (SUCCESS, "")
        return self.until_not_busy("test_data_in")

    def run(self) -> dict[str, str]:
        """The variables that the job gets."""
        path = self.site.folder / "path"
        path.write_text("")
        words = (self.id, self.script, str(path), self.uid, self.uid, {})
        assert self.site.hooks.call("paths", *words) == (SUCCESS, "")
        assert self.call("pre_run") == (SUCCESS, "")
        pairs = [line.split("=", 1) for line in path.read_text().splitlines()]
        return dict(pairs)

    def stage_out(self, exit_code: int = 0) -> tuple[int, str]:
        for hook in ("post_run", "data_out"):
            assert self.call(hook, exit_code=exit_code) == (SUCCESS, "")
        return self.until_not_busy("test_data_out", exit_code=exit_code)

    def tear_down(self, hurry: bool = False) -> None:
        words = (self.id, self.script, str(hurry).lower(), self.uid, self.uid)
        assert self.site.hooks.call("job_teardown", *words) == (SUCCESS, "")
        requests = self.site.spool / "requests"
        until(lambda: not list(requests.glob("*.teardown")))

    def until_not_busy(self, hook: str, **info: Any) -> tuple[int, str]:
        found: list[tuple[int, str]] = []

        def is_done() -> bool:
            found.append(self.call(hook, **info))
            return found[-1][1] != "BUSY"

        until(is_done)
        return found[-1]


def until(is_so: Any) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def away(tmp_path: Path) -> SlurmSite:
    """The service was never started."""
    return SlurmSite(tmp_path)


@pytest.fixture
def site(away: SlurmSite) -> Iterator[SlurmSite]:
    away.serve()
    yield away
    if away.process is not None and away.process.poll() is None:
        away.kill(15)
