"""Staging services in processes of their own: of a user, of a site, of a node."""

from __future__ import annotations

import importlib
import json
import os
import pwd
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import IO, Any, ClassVar

from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.protocol import CONTROL_SOCKET
from pegasus_bb.stager.slurm.install_hooks import hooks_text
from tests.support.waiting import until

ME = os.getuid()
SUCCESS = 0
ERROR = -1
OWN = "jobbb capacity=2MiB pool=flash"
STAGE_IN = "stage_in lustre://in job://in"
STAGE_OUT = "stage_out job://out lustre://out"
COPIES = (STAGE_IN, STAGE_OUT)

SERVE = (
    "import sys; from pegasus_bb.stager.site_config import user_config; "
    "from pegasus_bb.stager.socket_server import run; "
    "idle, workers = float(sys.argv[1]), int(sys.argv[2]); "
    "run(user_config()._replace(idle=idle, workers=workers))"
)
_SITE_OF_ONE = "" if ME == 0 else "capabilities.NEEDED.clear(); "  # its only user is ME
SERVE_SITE = (
    "import os, sys; from pegasus_bb.stager import __main__ as program, capabilities; "
    "from pegasus_bb.stager.slurm import attendant; "
    "attendant._TIDY = float(os.environ.get('TIDIES_EVERY', 60)); "
    f"{_SITE_OF_ONE}sys.exit(program.main())"
)


def _is_worker(pid: str) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has gone
        return False
    return b"pegasus_bb.stager.worker" in words


class Daemon:
    """Starts, kills and asks a service whose folders are in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sockets = folder, folder / "sock"
        self.environ = {
            **os.environ,
            "XDG_STATE_HOME": str(folder / "state"),
            "PEGASUS_BB_STAGER": str(self.sockets),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self.code = ""  # what its Python does first

    @property
    def state(self) -> Path:
        [found] = self.folder.rglob("tasks.sqlite")
        return found.parent

    def start(
        self,
        idle: float = 600,
        stderr: int | IO[bytes] | None = None,
        workers: int = 2,
    ) -> Client:
        argv = [sys.executable, "-c", self.code + SERVE, str(idle), str(workers)]
        self.process = subprocess.Popen(argv, env=self.environ, stderr=stderr)
        return self.connect()

    def launch(self, stderr: int | IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "pegasus_bb.stager"]
        self.process = subprocess.Popen(argv, env=self.environ, stderr=stderr)
        return self.process

    def refusal(self) -> str:
        """Why it does not start."""
        process = self.launch(stderr=subprocess.PIPE)
        _, words = process.communicate(timeout=20)
        assert process.returncode == 2 and b"Traceback" not in words
        return words.decode()

    def connect(self, name: str = "user") -> Client:
        end = time.monotonic() + 20
        while True:
            try:
                return Client(str(self.sockets / name))
            except NoService:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def control(self) -> Client:
        return self.connect(CONTROL_SOCKET)

    def ask_control(self, what: str) -> None:
        """What an administrator tells the service, such as pause."""
        with self.control() as client:
            client.ask(what)

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(timeout=20)

    def end(self) -> None:
        """If it runs still."""
        if self.process is not None and self.process.poll() is None:
            self.kill(signal.SIGTERM)

    def limit_files(self, size: int = resource.RLIM_INFINITY) -> None:
        """No file of the service gets longer: its disk is full, say."""
        assert self.process is not None
        limits = (size, resource.RLIM_INFINITY)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, limits)

    def workers(self) -> list[int]:
        """Their processes. One that is only forked is the service still, which waits
        until it is a worker: a signal to it would stop both."""
        assert self.process is not None
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if _is_worker(child)]

    def rows(self, query: str, *values: Any) -> list[Any]:
        """What the database says; also while its service has it open."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tasks.sqlite", "tasks.sqlite-wal"):
                if (self.state / name).exists():
                    shutil.copy(self.state / name, folder)
            with closing(sqlite3.connect(f"{folder}/tasks.sqlite")) as found:
                return found.execute(query, values).fetchall()

    def forget_ends(self) -> None:
        """As if the service had been killed just before it wrote that tasks ended."""
        self.change("INSERT INTO tags SELECT task, '1.2.3' FROM ends")
        self.change("DELETE FROM ends")

    def change(self, statement: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.state / "tasks.sqlite")) as found, found:
            assert found.execute(statement, values).rowcount

    def copy(self, name: str, **more: Any) -> dict[str, Any]:
        """The task that copies from/<name> to to/<name>."""
        places = {
            "source": f"file://{self.folder}/from/{name}",
            "dest": f"file://{self.folder}/to/{name}",
        }
        return {"kind": "copy", **places, **more}

    def make(self, name: str, size: int) -> Path:
        path = self.folder / "from" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
        return path

    def arrived(self, name: str) -> bool:
        """Whether to/<name> is from/<name>, and no temporary file lies there."""
        came, went = (self.folder / side / name for side in ("from", "to"))
        parts = [p for p in went.parent.iterdir() if p.name.endswith(".part")]
        return not parts and came.read_bytes() == went.read_bytes()


def ends(client: Client, *tasks: dict[str, Any]) -> list[tuple[str, str]]:
    """How ``tasks`` end."""
    found = client.wait(client.submit(tasks))
    return [(task["state"], task["message"]) for task in found]


def open_to_all(folder: Path) -> None:
    """Every user can walk to ``folder``."""
    for each in (folder, *folder.parents):
        if each.stat().st_mode & 0o011 == 0:
            each.chmod(0o711)


class SiteDaemon(Daemon):
    """A service with the configuration ``config``. ``before`` is what starts it."""

    kind = "--site"

    def __init__(self, folder: Path, **spaces: Path) -> None:
        super().__init__(folder)
        self.config: dict[str, Any] = {
            "dataspaces": {name: {"path": str(path)} for name, path in spaces.items()},
            "state": str(folder / "var"),
            "sockets": str(self.sockets),
        }
        self.before = list[str]()
        self.program = [sys.executable, "-c", SERVE_SITE]
        self.tidies_every = 60.0  # seconds

    def configure(self) -> Path:
        path = self.folder / "stager.json"
        path.write_text(json.dumps(self.config))
        return path

    def launch(self, stderr: int | IO[bytes] | None = None) -> subprocess.Popen[bytes]:
        argv = [*self.before, *self.program, self.kind, str(self.configure())]
        environ = {**self.environ, "TIDIES_EVERY": str(self.tidies_every)}
        self.process = subprocess.Popen(argv, env=environ, stderr=stderr)
        return self.process

    def serve(self) -> None:
        self.launch()
        self.connect().close()

    def serve_again(self) -> None:
        self.kill()
        self.serve()


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


class SlurmSite(SiteDaemon):
    """Dataspace lustre, pool flash of 10 MiB in granules of 1 MiB."""

    def __init__(self, folder: Path) -> None:
        self.lustre, self.bb = folder / "lustre", folder / "bb"
        super().__init__(folder, lustre=self.lustre)
        self.spool = folder / "spool"
        self.lustre.mkdir()
        self.bb.mkdir()
        self.lua = "lua51"
        pool = {"path": str(self.bb), "capacity": "10MiB", "granularity": "1MiB"}
        user = pwd.getpwuid(ME).pw_name
        slurm = {"user": user, "spool": str(self.spool), "pools": {"flash": pool}}
        self.config["slurm"] = slurm

    def serve(self) -> None:
        (self.spool / "alive").unlink(missing_ok=True)
        super().serve()
        until((self.spool / "alive").exists)

    @property
    def hooks(self) -> Hooks:
        """A Lua of its own for each call, as Slurm has it."""
        return Hooks(self.spool, self.lua)

    def file(self, name: str, text: str = "some text", uid: int = ME) -> Path:
        path = self.lustre / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.chown(path, uid, -1)
        return path

    @property
    def saved(self) -> str:
        """What STAGE_OUT has made."""
        return (self.lustre / "out").read_text()

    def ask(self, *words: str, uid: int = ME) -> dict[str, Any]:
        """What ``scontrol show bbstat WORDS`` prints."""
        code, text = self.hooks.call("get_status", uid, uid, *words)
        assert code == SUCCESS and "\n" not in text
        answer: dict[str, Any] = json.loads(text)
        assert answer.pop("v") == 1
        return answer

    def rows_of(self, what: str, uid: int = ME) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.ask("list", uid=uid)["ok"][what]
        return rows

    @property
    def kept(self) -> list[dict[str, Any]]:
        return self.rows_of("kept")

    @property
    def free(self) -> int:
        """MiB of the pool."""
        return int(self.rows_of("pools")[0]["free"]) >> 20

    def records(self, kind: str = "SlurmJob") -> list[dict[str, Any]]:
        """What the service has stored of its jobs."""
        rows = self.rows("SELECT record FROM records WHERE kind = ?", kind)
        return [json.loads(row) for (row,) in rows]

    def age(self, seconds: float, *numbers: int) -> None:
        """Since then jobs have not changed, as the next service reads."""
        self.kill()
        for number in numbers:
            known = self.record(number)
            self.edit(number, changed_at=known["changed_at"] - seconds)
        self.serve()

    def record(self, number: int) -> dict[str, Any]:
        """Of a job; empty if there is none."""
        return next((r for r in self.records() if r["number"] == number), {})

    def edit(self, number: int, **changes: Any) -> None:
        """Change the record of a job, while no service runs."""
        known = self.record(number)
        name = f"{number}.{known['noted_at']}"
        text = json.dumps({**known, **changes})
        self.change("UPDATE records SET record = ? WHERE name = ?", text, name)


class Job:
    """A job, and Slurm's calls for it in their order."""

    number = 1000
    made: ClassVar[list[Job]] = []

    def __init__(self, site: SlurmSite, *directives: str, uid: int = ME) -> None:
        Job.number += 1
        Job.made.append(self)
        self.site, self.uid, self.id = site, uid, Job.number
        self.script = f"/var/spool/slurmctld/hash/job.{self.id}/script"
        self.lines = "\n".join(f"#BB_LUA {line}" for line in directives)
        self.exit_code = 0

    def call(self, hook: str, **info: Any) -> tuple[int, str]:
        info = {"burst_buffer": self.lines, **info}
        words: list[Any] = [self.id, self.script, self.uid, self.uid, info]
        if hook == "setup":
            words = [self.id, self.uid, self.uid, None, 0, self.script, info]
        return self.site.hooks.call(hook, *words)

    def known(self, key: str = "state") -> str:
        """What the hooks know of it."""
        path = self.site.spool / "jobs" / str(self.id)
        text = path.read_text() if path.exists() else ""
        return dict(line.split("=", 1) for line in text.splitlines()).get(key, "")

    def until_in(self, state: str) -> None:
        until(lambda: self.known() == state)

    def begin(self, **info: Any) -> None:
        assert self.call("setup", **info) == (SUCCESS, "")
        assert self.call("data_in", **info) == (SUCCESS, "")

    def stage_in(self) -> None:
        """From setup until Slurm would start the job."""
        self.begin()
        self.until_staged("in")

    def fail(self) -> str:
        """The reason why it cannot be staged in."""
        self.begin()
        return self.until_failed("in")

    def environ(self) -> dict[str, str]:
        """The variables that the job gets."""
        path = self.site.folder / "path"
        path.write_text("")
        words: tuple[Any, ...] = (
            self.id,
            self.script,
            str(path),
            self.uid,
            self.uid,
            {},
        )
        assert self.site.hooks.call("paths", *words) == (SUCCESS, "")
        pairs = [line.split("=", 1) for line in path.read_text().splitlines()]
        return dict(pairs)

    def run(self) -> dict[str, str]:
        found = self.environ()
        assert self.call("pre_run") == (SUCCESS, "")
        return found

    def compute(self, result: str = "") -> Path:
        """Its own buffer, in which it leaves ``result``; the service knows that it
        runs."""
        self.stage_in()
        own = Path(self.run()["BB_JOB"])
        if result:
            (own / "out").write_text(result)
        self.until_in("running")
        requests = self.site.spool / "requests"
        until(lambda: not list(requests.glob("*.pre_run")))  # it would come once more
        return own

    def end(self, exit_code: int = 0) -> None:
        self.exit_code = exit_code
        for hook in ("post_run", "data_out"):
            assert self.call(hook, exit_code=exit_code) == (SUCCESS, "")

    def stage_out(self, exit_code: int = 0) -> None:
        self.end(exit_code)
        self.until_staged("out")

    def fail_to_save(self, exit_code: int = 0) -> str:
        """The reason why its results cannot be saved."""
        self.end(exit_code)
        return self.until_failed("out")

    def tear_down(self, hurry: bool = False) -> None:
        words = (self.id, self.script, str(hurry).lower(), self.uid, self.uid)
        assert self.site.hooks.call("job_teardown", *words) == (SUCCESS, "")
        requests = self.site.spool / "requests"
        until(lambda: not list(requests.glob("*.teardown")))

    def is_staged(self, way: str) -> tuple[int, str]:
        """What Slurm asks again and again; ``way`` is in or out."""
        more = {"exit_code": self.exit_code} if way == "out" else {}
        return self.call(f"test_data_{way}", **more)

    def is_busy(self, way: str) -> bool:
        return self.is_staged(way) == (SUCCESS, "BUSY")

    def until_staged(self, way: str) -> None:
        until(lambda: not self.is_busy(way))
        assert self.is_staged(way) == (SUCCESS, "")

    def until_failed(self, way: str) -> str:
        until(lambda: not self.is_busy(way))
        code, words = self.is_staged(way)
        assert code == ERROR
        return words
