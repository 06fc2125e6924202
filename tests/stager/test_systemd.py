"""systemd opens the sockets, and starts the service when someone connects."""

from __future__ import annotations

import socket
import subprocess
import sys

from pegasus_bb.runtime.stager_client.client import Client
from tests.support.stager import Daemon, finished

_START = """
import os, sys
for place, number in enumerate(map(int, sys.argv[1:])):
    os.dup2(number, 60 + place)
for place in range(len(sys.argv) - 1):
    os.dup2(60 + place, 3 + place)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(sys.argv) - 1)
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.stager.site_config import user_config
from pegasus_bb.stager.socket_server import run
try:
    run(user_config()._replace(idle=0.1))
except PegasusBBError as error:
    sys.exit(str(error))
"""


def started(daemon: Daemon, *names: str) -> subprocess.Popen[str]:
    daemon.sockets.mkdir(mode=0o700)
    opened = [socket.socket(socket.AF_UNIX) for _ in names]
    for name, each in zip(names, opened, strict=True):
        each.bind(str(daemon.sockets / name))
        each.listen()
    handles = [each.fileno() for each in opened]
    return subprocess.Popen(
        [sys.executable, "-c", _START, *map(str, handles)],
        env=daemon.environ,
        pass_fds=handles,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_sockets_of_systemd_are_used_and_left(daemon: Daemon) -> None:
    process = started(daemon, "user", "control")
    daemon.make("file", 10)
    with Client(str(daemon.sockets)) as client:
        finished(client, daemon.copy("file"))
    assert daemon.arrived("file")
    assert process.wait(timeout=20) == 0
    assert {path.name for path in daemon.sockets.iterdir()} == {"user", "control"}


def test_other_sockets_of_systemd_are_refused(daemon: Daemon) -> None:
    _, why = started(daemon, "user", "else").communicate(timeout=20)
    assert "one ListenStream= for each" in why
