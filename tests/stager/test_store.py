"""The database of the service: what it keeps, and what it refuses."""

from __future__ import annotations

import pytest

from tests.support.stager import Daemon, finished


def test_only_its_owner_reads_it(daemon: Daemon) -> None:
    daemon.start().close()
    modes = [path.stat().st_mode & 0o077 for path in daemon.state.glob("tasks.*")]
    assert modes == [0, 0]


@pytest.mark.parametrize("damage", ["no database", "a line that is no request"])
def test_a_damaged_database_is_refused_with_its_path(
    daemon: Daemon, damage: str
) -> None:
    client = daemon.start()
    daemon.pause()
    client.submit([daemon.copy("file")])
    daemon.kill()
    path = daemon.state / "tasks.sqlite"
    if damage == "no database":
        path.with_name("tasks.sqlite-wal").unlink()
        path.write_bytes(b"x" * 5000)
    else:
        daemon.change("UPDATE requests SET line = '{}'")
    assert f"{path}: " in daemon.refusal()


def test_what_was_learned_outlives_the_service(daemon: Daemon) -> None:
    daemon.make("file", 3000)
    client = daemon.start()

    def seconds_left() -> float:
        daemon.pause()
        [task] = client.submit([daemon.copy("file", size=10**9)])
        [shown] = client.status([task], eta=True)
        client.cancel([task])
        return float(shown["seconds_left"])

    finished(client, daemon.copy("file"))
    while (before := seconds_left()) == 10.01:
        pass  # the worker is about to say that it is idle
    daemon.ask_control("shutdown")
    assert daemon.has_ended()
    client = daemon.start()
    assert seconds_left() == before


def test_a_task_is_as_it_was_with_the_next_service(daemon: Daemon) -> None:
    client = daemon.start()
    daemon.pause()
    more = {"deadline": 9e9, "priority": -3, "rate": 5, "share": "a", "hint": 2}
    client.submit([daemon.copy("plain"), daemon.copy("x", size=6, digest=True, **more)])
    client.submit([{"kind": "remove", "source": "file:///absent"}])
    client.cancel([3])
    before = client.status()
    daemon.kill()
    client = daemon.start()
    [*waiting, ended] = client.status()
    assert ended == before[2]
    assert [task["request"] for task in waiting] == [1, 1]
    changes = ("state", "message", "moved", "ended_at", "outcome")  # it goes on
    for task, was in zip(waiting, before[:2], strict=True):
        assert {k: v for k, v in task.items() if k not in changes} == {
            k: v for k, v in was.items() if k not in changes
        }
