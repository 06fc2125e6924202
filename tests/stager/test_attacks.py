"""What a hostile user tries: refused or without effect, and no other user feels it."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
from tests.stager.conftest import Daemon


def end(client: Client, task: dict[str, Any]) -> str:
    return str(client.wait(client.submit([task]))[0]["state"])


def test_a_longer_destination_keeps_nothing_of_itself(
    daemon: Daemon, client: Client
) -> None:
    daemon.make("file", 10)
    (daemon.folder / "to").mkdir()
    (daemon.folder / "to/file").write_bytes(b"x" * 100_000)
    assert end(client, daemon.copy("file")) == "done"
    assert daemon.arrived("file")


def test_a_link_at_the_destination_is_replaced_not_written_through(
    daemon: Daemon, client: Client
) -> None:
    daemon.make("file", 10)
    (daemon.folder / "to").mkdir()
    other = daemon.folder / "other"
    other.write_text("stays")
    (daemon.folder / "to/file").symlink_to(other)
    assert end(client, daemon.copy("file")) == "done"
    assert other.read_text() == "stays" and daemon.arrived("file")


@pytest.mark.parametrize("side", ["source", "dest"])
@pytest.mark.parametrize("kind", ["copy", "move"])
def test_a_link_in_the_way_is_not_followed(
    daemon: Daemon, client: Client, side: str, kind: str
) -> None:
    daemon.make("in/file", 10)
    secret = daemon.folder / "secret"
    secret.mkdir()
    (secret / "file").write_text("not yours")
    link = daemon.folder / ("from" if side == "source" else "to") / "link"
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(secret)
    task = {**daemon.copy("in/file"), "kind": kind, side: f"file://{link}/file"}
    assert end(client, task) == "failed"
    assert (secret / "file").read_text() == "not yours"
    assert (daemon.folder / "from/in/file").exists()


def test_a_link_in_the_way_of_a_removal_is_not_followed(
    daemon: Daemon, client: Client
) -> None:
    kept = daemon.make("kept/file", 10)
    link = daemon.folder / "link"
    link.symlink_to(kept.parent)
    assert end(client, {"kind": "remove", "source": f"file://{link}/file"}) == "failed"
    assert end(client, {"kind": "remove", "source": f"file://{link}"}) == "done"
    assert kept.exists() and not link.is_symlink()


@pytest.mark.parametrize(
    "more",
    [
        {"source": "file://a/\ud800"},
        {"size": 10**400},
        {"size": True},
        {"rate": 10**400},
        {"rate": float("inf")},
        {"deadline": float("nan")},
        {"priority": 10**30},
    ],
)
def test_odd_words_in_a_task_are_refused(
    daemon: Daemon, client: Client, more: dict[str, Any]
) -> None:
    with pytest.raises(Refused) as refused:
        client.submit([daemon.copy("x", **more)])
    assert refused.value.code in ("bad-task", "bad-place")


@pytest.mark.parametrize(
    ("do", "more"),
    [
        ("submit", {"task": []}),
        ("submit", {"tasks": [], "descriptors": 1}),
        ("ping", {"tasks": None}),
        ("cancel", {"eta": True}),
    ],
)
def test_a_key_that_a_request_does_not_have_is_refused(
    client: Client, do: str, more: dict[str, Any]
) -> None:
    """A slip in ``tasks`` would else cancel all of them."""
    with pytest.raises(Refused, match="takes no") as refused:
        client.ask(do, **more)
    assert refused.value.code == "bad-request"


@pytest.mark.parametrize(
    ("do", "more", "words"),
    [
        ("status", {"tasks": [1, 1]}, "each of them once"),
        ("wait", {"tasks": [1, 1]}, "each of them once"),
        ("wait", {"tasks": [True]}, "numbers"),
        ("wait", {"tasks": [1.0]}, "numbers"),
        ("wait", {"tasks": 1}, "numbers"),
        ("wait", {"tasks": None}, "found None"),
        ("wait", {}, "found None"),
        ("status", {"eta": 1}, "eta is true or false"),
        ("status", {"everyone": "false"}, "everyone is true or false; found 'false'"),
        ("cancel", {"tasks": [], "everyone": "false"}, "everyone is true or false"),
        ("cancel", {"all": "false"}, "all is true or false"),
        ("cancel", {}, "or all: true"),
        ("cancel", {"tasks": None}, "or all: true"),
        ("cancel", {"all": False}, "or all: true"),
        ("cancel", {"all": True, "tasks": [1]}, "or all: true"),
        ("submit", {"tasks": {}}, "tasks is a list"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused(
    daemon: Daemon, client: Client, do: str, more: dict[str, Any], words: str
) -> None:
    daemon.control().ask("pause")
    [task] = client.submit([daemon.copy("absent")])
    with pytest.raises(Refused, match=words) as refused:
        client.ask(do, **more)
    assert refused.value.code == "bad-request"
    assert client.status([task])[0]["state"] == "pending"
    assert client.ask("cancel", all=True)["cancelled"] == 1


def test_a_place_is_as_long_as_a_path_may_be(daemon: Daemon, client: Client) -> None:
    with pytest.raises(Refused, match="4096 characters"):
        client.submit([daemon.copy("x" * 4096)])
    name = "x" * (4096 - len(daemon.copy("")["source"]))
    assert end(client, daemon.copy(name)) == "failed"


def test_an_id_that_is_no_number_and_no_short_text_is_refused(
    daemon: Daemon, client: Client
) -> None:
    for number in ([1], {"a": 1}, "x" * 1000, 10**300, True):
        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(str(daemon.sockets / "user"))
            line = json.dumps({"v": 1, "id": number, "do": "ping"})
            raw.sendall(line.encode() + b"\n")
            answer = json.loads(raw.makefile().readline())
        assert answer["error"]["code"] == "bad-request"


def test_a_request_that_is_too_long_is_refused_before_it_is_sent(
    daemon: Daemon, client: Client
) -> None:
    with pytest.raises(Refused, match="fewer tasks"):
        client.submit([daemon.copy("x" * 200)] * 50_000)
    assert client.status() == []


@pytest.mark.sweep
def test_a_hundred_thousand_tasks_wait_are_seen_and_end(
    daemon: Daemon, client: Client
) -> None:
    """Their answers are longer than any request may be."""
    daemon.control().ask("pause")
    task = {"kind": "remove", "source": f"file://{daemon.folder}/absent"}
    numbers = [n for _ in range(10) for n in client.submit([task] * 10_000)]
    with daemon.connect() as other:
        asking = threading.Thread(target=lambda: other.status(eta=True))
        asking.start()
        assert len(client.status(eta=True)) == 100_000
        asking.join()
    assert client.cancel(numbers) == 100_000
    assert {task["state"] for task in client.wait(numbers)} == {"cancelled"}


def test_no_path_leads_out_of_a_dataspace(tmp_path: Path) -> None:
    from pegasus_bb.runtime.stager_client.dataspace import (
        Dataspace,
        open_parent,
        parse_place,
    )

    spaces = {"bb": Dataspace("bb", str(tmp_path))}
    for url in ("bb://../etc/passwd", "bb://a/../../b", "/etc/passwd", "file:///etc"):
        with pytest.raises(Refused):
            parse_place(url, spaces)
    assert parse_place("bb:///etc/passwd", spaces).parts == ("etc", "passwd")
    (tmp_path / "etc").symlink_to("/etc")
    with pytest.raises(OSError):
        open_parent(spaces["bb"], ("etc", "passwd"), make=False)
