"""Clients: started on demand, several at once, damaged words."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.stager_client import client as module
from pegasus_bb.runtime.stager_client.client import Client, NoService, connect_or_start
from pegasus_bb.runtime.stager_client.protocol import encode
from tests.stager.test_users import BOB
from tests.support.as_root import as_root
from tests.support.stager import Daemon


def test_two_who_start_the_service_at_once_get_one(daemon: Daemon) -> None:
    code = (
        "from pegasus_bb.runtime.stager_client import client as c; "
        "connect = c.connect_or_start; "
        f"client = connect({str(daemon.sockets)!r}); "
        "print(client.ask('ping')['pid'])"
    )
    argv = [sys.executable, "-c", code]
    both = [
        subprocess.Popen(argv, env=daemon.environ, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    pids = {process.communicate(timeout=30)[0] for process in both}
    assert len(pids) == 1
    while services(daemon) != {int(pid) for pid in pids}:
        time.sleep(0.01)  # the other has not come to the lock yet
    daemon.ask_control("shutdown")


def test_why_a_service_cannot_be_started_is_said(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    (daemon.folder / "state").write_text("a file")
    monkeypatch.setattr(module, "_STARTING", 2.0)
    monkeypatch.setenv("XDG_STATE_HOME", str(daemon.folder / "state"))
    with pytest.raises(NoService, match=r"no staging service: .*; .*Not a directory"):
        connect_or_start(str(daemon.sockets))


@as_root
def test_a_socket_that_another_user_has_made_where_all_may_write_is_not_used(
    tmp_path: Path,
) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o1777)
    folder = tmp_path / "all/sock"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as planted:
        planted.bind(str(folder / "user"))
        planted.listen()
        Client(str(folder)).close()
        os.chown(folder, BOB, BOB)
        with pytest.raises(UsageError, match=f"user {BOB} has made it"):
            connect_or_start(str(folder))


def services(daemon: Daemon) -> set[int]:
    """The processes that were started with the sockets of ``daemon``."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if os.fsencode(daemon.sockets) in path.read_bytes():
                found.add(int(path.parent.name))
    return found


def test_an_idle_service_of_a_user_ends(daemon: Daemon) -> None:
    daemon.start(idle=0.1).close()
    assert daemon.has_ended()
    assert list(daemon.sockets.iterdir()) == []


def test_a_service_that_ends_while_a_client_comes_is_followed_by_another(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its last look and its end the kernel still lets clients connect; and its
    lock is held until its process has gone."""
    daemon.code = (
        "import time; from pegasus_bb.stager.socket_server import Server; "
        "over = Server._is_over; "
        "Server._is_over = lambda self: over(self) and not time.sleep(0.5); "
        "import atexit; atexit.register(time.sleep, 1.5); "
    )
    daemon.start(idle=0.1).close()
    for name, value in daemon.environ.items():
        monkeypatch.setenv(name, value)
    time.sleep(0.3)  # it sleeps after its last look
    with connect_or_start(str(daemon.sockets)) as client:
        [task] = client.submit([daemon.copy("absent")])
        assert client.wait([task])[0]["state"] == "failed"
    daemon.ask_control("shutdown")


DAMAGED: list[tuple[bytes, str]] = [
    (b"no json\n", "bad-request"),
    (b"[1]\n", "bad-request"),
    (b"[" * 100_000 + b"\n", "bad-request"),
    (b'{"v": 2, "do": "ping"}\n', "version"),
    (b'{"v": true, "do": "ping"}\n', "version"),
    (b'{"v": 1, "do": ["ping"]}\n', "bad-request"),
    *(
        (b'{"v": 1, "do": "ping", "id": %s}\n' % number, "bad-request")
        for number in (b"[1]", b'{"a": 1}', b'"%1000d"' % 1, b"1" * 300, b"true")
    ),
]


@contextlib.contextmanager
def connected(daemon: Daemon) -> Iterator[socket.socket]:
    """A client that says what it likes."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(daemon.sockets / "user"))
        yield raw


def test_damaged_words_are_refused_and_harm_no_other(
    daemon: Daemon, client: Client
) -> None:
    for line, code in DAMAGED:
        with connected(daemon) as raw:
            raw.sendall(line)
            answer = json.loads(raw.makefile().readline())
        assert answer["error"]["code"] == code
    assert "version" in client.ask("ping")


def test_a_line_without_an_end_closes_the_connection(
    daemon: Daemon, client: Client
) -> None:
    with connected(daemon) as raw, pytest.raises(OSError):
        for _ in range(100):
            raw.sendall(b"x" * (1 << 18))
    assert "version" in client.ask("ping")


def test_waiting_on_a_terminal_shows_progress(daemon: Daemon, client: Client) -> None:
    daemon.make("file", 10)
    daemon.pause()
    tasks = client.submit([daemon.copy("file")])
    ours, its = os.openpty()
    argv = [sys.executable, "-m", "pegasus_bb", "stager", "wait", str(tasks[0])]
    process = subprocess.Popen(argv, env=daemon.environ, stderr=its)
    os.close(its)
    shown = b""
    while b"of 1 tasks" not in shown:
        shown += os.read(ours, 10_000)
    daemon.resume()
    assert process.wait(timeout=30) == 0
    os.close(ours)


def line(number: int, do: str, **more: Any) -> bytes:
    return encode({"v": 1, "id": number, "do": do, **more})


def test_a_client_that_does_not_read_is_not_read_either_and_gets_every_answer(
    daemon: Daemon, client: Client
) -> None:
    daemon.pause()
    task = {"kind": "remove", "source": f"file://{daemon.folder}/absent"}
    client.submit([task] * 2000)
    with connected(daemon) as raw:
        sent = 0
        raw.settimeout(1)
        with pytest.raises(TimeoutError):
            while True:
                request = line(sent, "status", tasks=None).rstrip()
                raw.sendall(request + b" " * 1_000_000 + b"\n")
                sent += 1
        assert "version" in client.ask("ping")
        raw.settimeout(60)
        found = raw.makefile()
        answered = [json.loads(found.readline())["id"] for _ in range(sent)]
    assert answered == [*range(sent)] and sent


def test_a_request_waits_until_one_of_sixteen_is_answered(
    daemon: Daemon, client: Client
) -> None:
    daemon.pause()
    [task] = client.submit([daemon.copy("absent")])
    with connected(daemon) as raw:
        lines = [line(number, "wait", tasks=[task]) for number in range(16)]
        raw.sendall(b"".join([*lines, line(16, "ping")]))
        client.ask("ping")
        client.cancel([task])
        found = raw.makefile()
        answered = [json.loads(found.readline())["id"] for _ in range(17)]
    assert sorted(answered) == [*range(17)] and answered[0] != 16
