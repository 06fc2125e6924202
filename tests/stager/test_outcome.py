"""A task that wants a digest says what it has copied, also after a kill."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.staging.items import stamp
from tests.stager.shared import client, daemon, service
from tests.support.stager import Daemon

__all__ = ["client", "daemon", "service"]


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
    ended, plain = (client.wait(client.submit([task]))[0] for task in tasks)
    assert ended["outcome"]["digest"] == expected(daemon, "file")["digest"]
    assert ended["outcome"]["size"] == size
    assert plain["outcome"] is None
    [again] = client.wait(client.submit([daemon.copy("file", digest=True)]))
    assert again["outcome"] == expected(daemon, "file")
