"""What a user has the service do, and what becomes of it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.staging.items import stamp
from tests.stager.shared import client, daemon, service
from tests.support.stager import Daemon, ends, finished, until_moved

__all__ = ["client", "daemon", "service"]


def test_a_task_that_fails_says_why_and_costs_itself_only(
    daemon: Daemon, client: Client
) -> None:
    daemon.make("good", 10)
    (daemon.folder / "from/link").symlink_to("good")
    found = ends(client, *map(daemon.copy, ("absent", "link", "good")))
    assert [state for state, _ in found] == ["failed", "failed", "done"]
    assert "absent: No such file" in found[0][1] or "No such file" in found[0][1]
    assert "not a regular file" in found[1][1]


def test_a_running_copy_is_cancelled_in_the_middle(
    daemon: Daemon, client: Client
) -> None:
    daemon.make("large", 40 * MIB)
    [task] = client.submit([daemon.copy("large", rate=8 * MIB)])
    until_moved(client, task)
    assert client.cancel([task]) == 1
    [ended] = client.wait([task])
    assert (ended["state"], ended["message"]) == ("cancelled", "cancelled by its user")
    assert list((daemon.folder / "to").iterdir()) == []
    assert client.cancel([task]) == 0


def test_a_drained_service_takes_nothing_and_ends(fresh: Daemon) -> None:
    fresh.make("file", 10)
    client = fresh.start()
    tasks = client.submit([fresh.copy("file")])
    fresh.ask_control("drain")
    with pytest.raises(Refused, match="takes no new task"):
        client.submit([fresh.copy("file")])
    assert client.wait(tasks)[0]["state"] == "done"
    assert fresh.has_ended()


ODD: dict[str, list[Any]] = {
    "size": [10**400, True],
    "rate": [-1, "1", 10**400, float("inf")],
    "deadline": ["now", float("nan")],
    "priority": [101, 10**30],
    "digest": [1],
    "hint": [-1, 6, 2.0, "long", True, None],
}


REFUSED: list[tuple[Any, str]] = [
    ({"kind": "burn"}, "kind 'burn' is none of copy, move, remove"),
    ({"kind": "copy", "source": "file:///a"}, "dest None is no file"),
    ({"kind": "remove", "source": "file:///"}, "file:///' is a dataspace"),
    ({"kind": "remove", "source": "/a"}, r"is no NAME://path; say file://\.\.\."),
    ({"kind": "remove", "source": "lustre://a"}, "no dataspace lustre"),
    ({"kind": "remove", "source": "file://a/../b"}, r"no '\.\.' in it"),
    ({"kind": "remove", "source": "file://a\0b"}, r"no '\.\.' in it"),
    (
        {"kind": "remove", "source": "file://a", "rate": 5e-324},
        "rate 5e-324 is not 1 or more bytes per second",
    ),
    ({"kind": "remove", "source": "file://a", "shell": "x"}, "a task has the keys"),
    ({"kind": ["copy"], "source": "file://a", "dest": "file://b"}, "kind"),
    ({"kind": "copy", "source": 1, "dest": "file://b"}, "source 1 is no file"),
    ({"kind": "copy", "source": "file://a", "to": "file://b"}, "has the keys"),
    ({"kind": "copy", "source": "file://a", "dest": "lustre://b"}, "no dataspace"),
    ("remove", "a task has the keys"),
    ({"kind": "remove", "source": "file://a/\ud800"}, "no file can have that name"),
    *(
        ({"kind": "remove", "source": "file://a", key: value}, key)
        for key, values in ODD.items()
        for value in values
    ),
]


def test_what_cannot_be_done_is_refused_with_the_reason(client: Client) -> None:
    for task, words in REFUSED:
        with pytest.raises(Refused, match=words):
            client.submit([{"kind": "remove", "source": "file:///x"}, task])
    assert "file:///x" not in {task["source"] for task in client.status()}


def test_a_swapped_link_leads_nowhere(
    daemon: Daemon, client: Client, tmp_path: Path
) -> None:
    daemon.make("inner/file", 10)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("not yours")
    daemon.pause()
    tasks = client.submit([daemon.copy("inner/file")])
    (daemon.folder / "from/inner").rename(daemon.folder / "from/was")
    (daemon.folder / "from/inner").symlink_to(outside)
    daemon.resume()
    [ended] = client.wait(tasks)
    assert ended["state"] == "failed"
    assert not (daemon.folder / "to/inner/file").exists()


def expected(daemon: Daemon, name: str) -> dict[str, Any]:
    source, dest = (daemon.folder / side / name for side in ("from", "to"))
    digest = hashlib.sha256(dest.read_bytes()).hexdigest()
    return {
        "size": dest.stat().st_size,
        "digest": f"sha256:{digest}",
        "stat": stamp(dest.stat()),
        "source": stamp(source.stat()),
    }


@pytest.mark.parametrize("size", [5000, 20 * MIB])
def test_the_outcome_is_what_lies_there(
    daemon: Daemon, client: Client, size: int
) -> None:
    daemon.make("file", size)
    tasks = [daemon.copy("file", digest=True), daemon.copy("file")]
    ended, plain = (finished(client, task)[0] for task in tasks)
    assert ended["outcome"]["digest"] == expected(daemon, "file")["digest"]
    assert ended["outcome"]["size"] == size
    assert plain["outcome"] is None
    [again] = finished(client, daemon.copy("file", digest=True))
    assert again["outcome"] == expected(daemon, "file")
