"""A service of this user, in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.protocol import CONTROL_SOCKET

SERVE = (
    "import sys; from pegasus_bb.stager.site_config import user_config; "
    "from pegasus_bb.stager.socket_server import run; "
    "run(user_config()._replace(idle=float(sys.argv[1])))"
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
        self.before = ""  # what its Python does first

    @property
    def state(self) -> Path:
        [found] = (self.folder / "state").rglob("tasks.sqlite")
        return found.parent

    def start(self, idle: float = 600, stderr: IO[bytes] | None = None) -> Client:
        argv = [sys.executable, "-c", self.before + SERVE, str(idle)]
        self.process = subprocess.Popen(argv, env=self.environ, stderr=stderr)
        return self.connect()

    def connect(self, name: str = "user") -> Client:
        until = time.monotonic() + 20
        while True:
            try:
                return Client(str(self.sockets / name))
            except NoService:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def control(self) -> Client:
        return self.connect(CONTROL_SOCKET)

    def kill(self, number: int = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(timeout=20)

    def workers(self) -> list[int]:
        """Their processes. One that is only forked is the service still, which waits
        until it is a worker: a signal to it would stop both."""
        assert self.process is not None
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if _is_worker(child)]

    def rows(self, query: str) -> list[Any]:
        """What the database says; also while its service has it open."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tasks.sqlite", "tasks.sqlite-wal"):
                if (self.state / name).exists():
                    shutil.copy(self.state / name, folder)
            with closing(sqlite3.connect(f"{folder}/tasks.sqlite")) as found:
                return found.execute(query).fetchall()

    def forget_ends(self) -> None:
        """As if the service had been killed just before it wrote that tasks ended."""
        self.change("INSERT INTO tags SELECT task, '1.2.3' FROM ends")
        self.change("DELETE FROM ends")

    def change(self, statement: str) -> None:
        with closing(sqlite3.connect(self.state / "tasks.sqlite")) as found, found:
            assert found.execute(statement).rowcount

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


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not below pytest's own folder: that is closed to other users again whenever
    another pytest begins."""
    folder = Path(tempfile.mkdtemp(prefix="pegasus-bb-service-"))
    folder.chmod(0o711)
    yield folder
    until = time.monotonic() + 20
    while folder.exists() and time.monotonic() < until:
        shutil.rmtree(
            folder, ignore_errors=True
        )  # a service that ends writes a last time


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    yield daemon
    if daemon.process is not None and daemon.process.poll() is None:
        daemon.kill(signal.SIGTERM)


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with daemon.start() as client:
        yield client
