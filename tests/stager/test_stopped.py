"""A user may stop the workers that run as him. Only he waits for them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.units import MIB
from tests.stager.test_users import ANN, BOB, Site, copied, site
from tests.support.as_root import as_root
from tests.support.stager import Daemon
from tests.support.waiting import until

__all__ = ["site"]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_a_worker_without_a_sign_of_life_is_killed_and_its_task_tried_again(
    daemon: Daemon,
) -> None:
    daemon.code = (
        "from pegasus_bb.stager import worker_pool; worker_pool._SILENCE = 0.8; "
    )
    daemon.make("large", 24 * MIB)
    client = daemon.start()
    [task] = client.submit([daemon.copy("large", rate=MIB)])
    stopped: set[int] = set()

    def has_ended() -> bool:
        [now] = client.status([task])
        for pid in set(daemon.workers()) - stopped if now["moved"] else ():
            os.kill(pid, signal.SIGSTOP)
            stopped.add(pid)
        return str(now["state"]) == "failed"

    until(has_ended, 60)
    assert "3 times (no sign of life" in client.status([task])[0]["message"]
    until(lambda: not any(map(is_alive, stopped)))


@as_root
@pytest.mark.parametrize("site", [{"rate": "1MB/s"}], indirect=True)
def test_stopped_workers_keep_no_other_user_waiting_and_no_service_alive(
    site: Site, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        own(tmp_path / f"lustre/{ANN}/{name}", ANN, 20 * MIB)
    own(tmp_path / f"lustre/{BOB}/small", BOB, 10)
    tasks = [{**copied(ANN, name), "size": 33 * MIB} for name in ("a", "b")]
    numbers = site.submit(ANN, *tasks)
    until(lambda: all(task["moved"] for task in status(site, numbers)))
    stopped = site.workers()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    [number] = site.submit(BOB, copied(BOB, "small"))
    until(lambda: status(site, [number])[0]["state"] == "done")
    assert [task["state"] for task in status(site, numbers)] == ["running"] * 2
    site.kill(signal.SIGTERM)
    until(lambda: not any(map(is_alive, stopped)))


def own(path: Path, uid: int, size: int) -> None:
    path.write_bytes(os.urandom(size))
    os.chown(path, uid, uid)


def status(site: Site, numbers: list[int]) -> list[dict[str, Any]]:
    with site.control() as control:
        return control.status(numbers, everyone=True)
