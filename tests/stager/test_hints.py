"""A task's hint, how long its copy will live, is set on every file that it writes."""

from __future__ import annotations

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.model.placement import HINTS
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.staging.hints import hint_of
from tests.stager.shared import client, daemon, service
from tests.support.kept_hints import keeps_hints
from tests.support.stager import Daemon, finished

__all__ = ["client", "daemon", "keeps_hints", "service"]
LONG = HINTS["long"]


def kept(daemon: Daemon, name: str) -> int:
    return hint_of(str(daemon.folder / "to" / name))


@pytest.mark.parametrize("size", [5000, 9 * MIB])
def test_a_copy_has_the_hint_of_its_task(
    daemon: Daemon, client: Client, size: int
) -> None:
    """Small files of one request are copied together, each with its own."""
    hints = [0, *HINTS.values()]
    tasks = []
    for hint in hints:
        daemon.make(str(hint), size)
        tasks.append(daemon.copy(str(hint), **({"hint": hint} if hint else {})))
    ended = client.wait(client.submit(tasks))
    assert [(task["state"], task["hint"]) for task in ended] == [
        ("done", hint) for hint in hints
    ]
    assert [kept(daemon, str(hint)) for hint in hints] == hints
    assert all(daemon.arrived(str(hint)) for hint in hints)


def test_every_file_of_a_tree_has_it(daemon: Daemon, client: Client) -> None:
    for name in ("tree/a", "tree/deep/b"):
        daemon.make(name, 5000)
    finished(client, daemon.copy("tree", hint=LONG))
    names = ("tree/a", "tree/deep/b")
    assert [kept(daemon, name) for name in names] == [LONG, LONG]
    assert all(map(daemon.arrived, names))


def test_a_client_can_ask_which_keys_a_task_may_have(client: Client) -> None:
    """Those of a later version are not in an earlier one's answer."""
    about = client.ask("ping")
    assert (about["version"], "hint" in about["keys"]) == (1, True)
    assert about["roots"] == {"file": "/"}
