"""Transfers through the staging service: all files in one request, and no file lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import SCHEDULER_UNREACHABLE
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.staging.items import stamp
from pegasus_bb.runtime.transfers import by_service
from pegasus_bb.runtime.transfers.by_service import PatientClient
from tests.stager.conftest import daemon
from tests.support.forked import ended
from tests.support.job_lists import SCRATCH, do, transfer
from tests.support.run_site import Site
from tests.support.stager import Daemon
from tests.support.waiting import until

__all__ = ["daemon"]
RESULTS = [f"out{number}" for number in range(30)]


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with daemon.start() as client:
        yield client


@pytest.fixture
def served(site: Site, daemon: Daemon) -> Site:
    """A site whose tier names the service of this user."""
    declare(site, service=str(daemon.sockets), timeout="60s")
    return site


def declare(site: Site, **more: str) -> None:
    data = {**site.request.to_json(), "settings": {**site.request.settings, **more}}
    site.request = Request.from_json(data)
    site.write("request.json", data)


def make_results(site: Site) -> list[dict[str, Any]]:
    site.place({}, {lfn: str(site.out / lfn) for lfn in RESULTS})
    for number, lfn in enumerate(RESULTS):
        (site.scratch / lfn).write_bytes(os.urandom(number * 1000))
    return [transfer(lfn, f"{SCRATCH}/{lfn}", site.out / lfn) for lfn in RESULTS]


def noted(site: Site) -> dict[str, Any]:
    return manifest.read(str(site.bb / "manifest.jsonl"), site.request.uuid)


def requests(daemon: Daemon) -> list[int]:
    """How many tasks each request had."""
    lines = daemon.rows("SELECT line FROM requests")
    return [len(json.loads(line)["tasks"]) for (line,) in lines]


def test_results_come_in_one_request_and_are_noted(
    served: Site, daemon: Daemon, client: Client
) -> None:
    done = do(served, *make_results(served))
    assert (done.returncode, done.stderr) == (0, b"")
    for lfn in RESULTS:
        dest = served.out / lfn
        line = noted(served)[lfn]
        assert dest.read_bytes() == (served.scratch / lfn).read_bytes()
        assert line["digest"] == digest_path(str(dest))
        assert line["stat"] == stamp(dest.stat())
        assert line["source"] == stamp((served.scratch / lfn).stat())
    assert requests(daemon) == [len(RESULTS)]


def test_a_file_that_fails_costs_itself_only(
    served: Site, given: Path, client: Client
) -> None:
    (served.out / "full").mkdir()
    (served.out / "full" / "in the way").touch()
    os.mkfifo(served.pfs / "pipe")
    jobs = [
        transfer("a", given, served.out / "a"),
        transfer("b", given, served.out / "full"),
        transfer("c", [served.pfs / "pipe", given], served.out / "c"),
    ]
    done = do(served, *jobs)
    assert done.returncode == 1
    assert (served.out / "a").read_text() == (served.out / "c").read_text()
    assert b"staging service: " in done.stderr and b"full" in done.stderr
    assert b"pipe" not in done.stderr


def test_the_wait_has_an_end(served: Site, daemon: Daemon, given: Path) -> None:
    declare(served, timeout="1s")
    done = do(served, transfer("in", given, f"{SCRATCH}/in"))
    assert done.returncode == SCHEDULER_UNREACHABLE
    last = done.stderr.decode().splitlines()[-1]
    assert "no staging service" in last and "no other answer in 1 s" in last
    assert f"--sockets {daemon.sockets} status" in last


@pytest.mark.parametrize("was_copied", [True, False])
def test_what_a_service_has_forgotten_is_looked_at_and_asked_for_again(
    served: Site, daemon: Daemon, client: Client, was_copied: bool
) -> None:
    done = transfer_that_is_forgotten(served, daemon, client)
    if was_copied:
        for lfn in RESULTS:
            shutil.copyfile(served.scratch / lfn, served.out / lfn)
    again = daemon.start()
    assert done.result(60).returncode == 0
    assert len(again.status()) == (0 if was_copied else len(RESULTS))
    for lfn in RESULTS:
        assert noted(served)[lfn]["digest"] == digest_path(str(served.out / lfn))


def test_another_task_with_the_same_number_is_not_ours(
    served: Site, daemon: Daemon, client: Client
) -> None:
    done = transfer_that_is_forgotten(served, daemon, client)
    before, daemon.sockets = daemon.sockets, daemon.folder / "sock2"
    daemon.environ["PEGASUS_BB_STAGER"] = str(daemon.sockets)
    daemon.make("other", 10)
    daemon.start().submit([daemon.copy("other")] * len(RESULTS))
    (daemon.sockets / "user").rename(before / "user")  # now it is found
    assert done.result(60).returncode == 0
    assert noted(served).keys() == set(RESULTS)


def transfer_that_is_forgotten(
    site: Site, daemon: Daemon, client: Client
) -> Future[Any]:
    """Its service is killed, and loses all that it knows."""
    jobs = make_results(site)
    daemon.pause()
    done = ThreadPoolExecutor(1).submit(do, site, *jobs)
    first, *_ = until(lambda: client.status())
    # Requests are answered in turn: after this answer, the transfer has its own.
    places = {"source": first["source"], "dest": f"{first['dest']}.other"}
    client.submit([{"kind": "copy", **places}])
    daemon.kill()
    shutil.rmtree(daemon.folder / "state")
    return done


def test_a_transfer_that_is_ended_takes_back_its_tasks(
    served: Site, daemon: Daemon, client: Client
) -> None:
    """Else they could make folders in a reservation that was given back."""
    jobs = make_results(served)
    daemon.pause()
    program = served.begin("transfer", stdin=json.dumps(jobs))
    until(lambda: client.status())
    program.terminate()
    assert program.wait(timeout=60) == 128 + signal.SIGTERM
    until(lambda: {task["state"] for task in client.status()} == {"cancelled"})
    daemon.resume()
    assert list(served.out.iterdir()) == []
    ended(do(served, *jobs))


def test_a_signal_before_the_answer_leaves_no_task(
    daemon: Daemon, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks are accepted, and their numbers are still on the way."""
    daemon.make("file", 3000)
    daemon.pause()
    submit = Client.submit

    def interrupted(self: Client, tasks: list[dict[str, Any]]) -> range:
        numbers = submit(self, tasks)
        os.kill(os.getpid(), signal.SIGTERM)
        return numbers

    monkeypatch.setattr(Client, "submit", interrupted)
    before = signal.signal(signal.SIGTERM, by_service.end_by_signal)
    try:
        with pytest.raises(SystemExit):
            list(PatientClient(str(daemon.sockets), 5.0).ended([daemon.copy("file")]))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert [task["state"] for task in client.status()] == ["cancelled"]
