"""Staging services in processes of their own: of a user, of a site, of a node."""

from __future__ import annotations

import json
import os
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
from typing import IO, Any

from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.protocol import CONTROL_SOCKET

ME = os.getuid()

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
        running, process = self.process, self.launch(stderr=subprocess.PIPE)
        self.process = running
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
        """What an administrator tells the service."""
        with self.control() as client:
            client.ask(what)

    def pause(self) -> None:
        self.ask_control("pause")

    def resume(self) -> None:
        self.ask_control("resume")

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(timeout=20)

    def end(self) -> None:
        """If it runs still."""
        if self.process is not None and self.process.poll() is None:
            self.kill(signal.SIGTERM)

    def has_ended(self) -> bool:
        """Whether it ends by itself, and well."""
        assert self.process is not None
        return self.process.wait(timeout=20) == 0

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
    return [(task["state"], task["message"]) for task in finished(client, *tasks)]


def finished(client: Client, *tasks: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said of ``tasks`` when they have ended."""
    return client.wait(client.submit(tasks))


def until_moved(client: Client, task: int) -> None:
    """Until the first bytes of ``task`` have gone."""
    while not client.status([task], everyone=True)[0]["moved"]:
        time.sleep(0.01)


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
