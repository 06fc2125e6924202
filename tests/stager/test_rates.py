"""How fast bytes may go: a worker's own rate, and that of a target for all workers."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.dataspace import Dataspace
from pegasus_bb.stager.conversation import Conversation
from pegasus_bb.stager.rates import Targets
from tests.stager.test_task_queue import task
from tests.stager.test_users import ANN, BOB, Site, copied, site
from tests.support.as_root import as_root
from tests.support.stager import Daemon
from tests.support.waiting import until

__all__ = ["site"]


def test_tasks_with_one_share_have_its_rate_together(
    daemon: Daemon, client: Client
) -> None:
    """Also after a restart; the last who joined says the rate. Others go freely."""
    for name in ("one", "two", "free"):
        daemon.make(name, 4_000_000)
    daemon.pause()
    one = daemon.copy("one", rate=1e9, share="my run")
    numbers = client.submit([one, daemon.copy("two", rate=4e6, share="my run")])
    daemon.kill()
    client = daemon.start()
    [free] = client.submit([daemon.copy("free")])
    ended = client.wait([*numbers, free])
    assert [task["share"] for task in ended] == ["my run", "my run", ""]
    begun = ended[2]["submitted"]
    last = max(task["ended_at"] for task in ended[:2])
    assert last - begun >= 1.6
    assert ended[2]["ended_at"] < last
    assert all(map(daemon.arrived, ("one", "two", "free")))


def test_a_share_is_of_one_user_and_ends_with_its_last_task() -> None:
    targets = Targets({"bb": Dataspace("bb", "/bb", rate=50 * MIB)})
    ann, bob, again = (
        task(number, uid=uid, source="bb://a", dest="bb://b", rate=MIB, share="run")
        for number, uid in enumerate((ANN, BOB, ANN))
    )
    for each in (ann, bob, again):
        targets.join(each)
    assert targets.limited([ann]) == {"bb", f"{ANN} run"}
    assert targets.limited([ann]) & targets.limited([bob]) == {"bb"}
    assert targets.take([ann], MIB, 100.0) == pytest.approx(0.95)
    assert targets.take([again], MIB, 100.0) == pytest.approx(1.95)
    for each in (ann, again, bob):
        targets.leave(each)
    assert targets.rates == {"bb": 50 * MIB}
    assert targets.limited([ann]) == {"bb"}


def test_the_rate_of_shares_can_be_changed_while_their_tasks_wait(
    daemon: Daemon, client: Client
) -> None:
    """At the old rate both would take an hour."""
    for name in ("one", "two", "other"):
        daemon.make(name, 4_000_000)
    shares = {"one": "run a", "two": "run b", "other": "another"}
    numbers = client.submit(
        [daemon.copy(name, rate=1000, share=of) for name, of in shares.items()]
    )
    until(lambda: client.status(numbers)[0]["moved"] > 0)
    assert client.ask("rate", shares="run ", rate=4e6) == {"shares": 2}
    begun = time.time()
    ended = client.wait(numbers[:2])
    last = max(task["ended_at"] for task in ended)
    assert 1.5 <= last - begun < 30, "8 MB at 4 MB/s together"
    assert client.status(numbers)[2]["state"] != "done"
    assert client.ask("rate", shares="another", rate=0) == {"shares": 1}
    assert client.wait(numbers[2:])[0]["state"] == "done"
    assert client.ask("rate", shares="run ", rate=5) == {"shares": 0}


@pytest.mark.parametrize("rate", [0, 1e12])
def test_a_task_whose_rate_may_change_asks_soon(rate: float) -> None:
    """Else a lower rate would hold for none of the bytes that are still to be moved."""
    targets = Targets({"bb": Dataspace("bb", "/bb")})
    shared = task(1, source="bb://a", dest="bb://b", rate=MIB, share="run")
    targets.join(shared)
    targets.change(shared.uid, "run", rate)
    assert targets.piece([shared]) == 16 * MIB
    assert targets.piece([task(2, source="bb://a", dest="bb://b")]) == 0


@as_root
@pytest.mark.parametrize("site", [{"rate": "20MB/s", "target": "disk"}], indirect=True)
def test_two_users_on_two_workers_keep_to_the_rate_of_one_target(
    site: Site, tmp_path: Path
) -> None:
    def copy(uid: int) -> Any:
        source = tmp_path / f"lustre/{uid}/data"
        source.write_bytes(bytes(10_000_000))
        source.chmod(0o644)
        return site.ask(uid, "submit", tasks=[copied(uid, "data")])["tasks"][0]

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(copy, (ANN, BOB)))
    assert {task["state"] for task in ended} == {"done"}
    begun = min(task["submitted"] for task in ended)
    took = max(task["ended_at"] for task in ended) - begun
    assert took >= 0.9, "20 MB in less than a second, but for what may go at once"


def test_a_worker_tells_each_piece_and_the_rest_at_the_end() -> None:
    said: list[dict[str, Any]] = []

    def say(message: dict[str, Any]) -> None:
        said.append(message)
        if "took" in message:
            service.handle({"granted": message["took"][0]})

    service = Conversation(say)
    service.handle({"do": [], "piece": 10})
    service.count([7, 8], 25)
    service.count([7, 8], 3)
    service.end([7, 8])
    pieces = [{"took": [n, size, [7, 8]]} for n, size in ((1, 10), (2, 10), (3, 8))]
    assert said[:-1] == pieces and "idle" in said[-1]
