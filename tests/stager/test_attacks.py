"""What a hostile user tries: refused or without effect, and no other user feels it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
from tests.stager.shared import client, daemon, service
from tests.support.stager import Daemon, ends

__all__ = ["client", "daemon", "service"]


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
    assert ends(client, task)[0][0] == "failed"
    assert (secret / "file").read_text() == "not yours"
    assert (daemon.folder / "from/in/file").exists()


def test_a_link_in_the_way_of_a_removal_is_not_followed(
    daemon: Daemon, client: Client
) -> None:
    kept = daemon.make("kept/file", 10)
    link = daemon.folder / "link"
    link.symlink_to(kept.parent)
    tasks = [
        {"kind": "remove", "source": f"file://{path}"} for path in (link / "file", link)
    ]
    assert [state for state, _ in ends(client, *tasks)] == ["failed", "done"]
    assert kept.exists() and not link.is_symlink()


NO_SENSE: list[tuple[str, dict[str, Any], str]] = [
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
    ("submit", {"task": []}, "takes no"),
    ("ping", {"tasks": None}, "takes no"),
    ("cancel", {"eta": True}, "takes no"),
    *(("rate", {"shares": s, "rate": 1}, "rate: shares is") for s in (None, "", 3)),
    *(
        ("rate", {"shares": "run", "rate": rate}, "rate: rate is")
        for rate in (-1, 0.5, "9", True, 1 << 62, 10**400)
    ),
]


def test_a_key_or_a_value_that_makes_no_sense_is_refused(
    daemon: Daemon, client: Client
) -> None:
    """A slip in ``tasks`` would else cancel all of them."""
    daemon.pause()
    [task] = client.submit([daemon.copy("absent")])
    for do, more, words in NO_SENSE:
        with pytest.raises(Refused, match=words) as refused:
            client.ask(do, **more)
        assert refused.value.code == "bad-request"
    assert client.status([task])[0]["state"] == "pending"
    assert client.ask("cancel", all=True)["cancelled"] == 1


def test_a_request_that_is_too_long_is_refused_before_it_is_sent(
    daemon: Daemon, client: Client
) -> None:
    with pytest.raises(Refused, match="fewer tasks"):
        client.submit([daemon.copy("x" * 200)] * 50_000)


@pytest.mark.sweep
def test_a_hundred_thousand_tasks_wait_are_seen_and_end(
    daemon: Daemon, client: Client
) -> None:
    """Their answers are longer than any request may be."""
    daemon.pause()
    task = {"kind": "remove", "source": f"file://{daemon.folder}/absent"}
    numbers = [n for _ in range(10) for n in client.submit([task] * 10_000)]
    with daemon.connect() as other:
        asking = threading.Thread(target=lambda: other.status(eta=True))
        asking.start()
        seen = {task["id"] for task in client.status(eta=True)}
        assert seen >= set(numbers)  # and some of other tests, until they are too old
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
