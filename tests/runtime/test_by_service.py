"""Transfers through the staging service: all files in one request, and no file lost."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import SCHEDULER_UNREACHABLE
from pegasus_bb.model.placement import HINTS
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.install import install_runtime
from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from pegasus_bb.runtime.staging.items import stamp
from pegasus_bb.runtime.transfers import by_service
from pegasus_bb.runtime.transfers.by_service import PatientClient
from tests.stager.conftest import Daemon, daemon

from .conftest import Site
from .job_lists import SCRATCH, do, transfer, until
from .test_drains import NOTE

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
        dest, line = served.out / lfn, noted(served)[lfn]
        assert dest.read_bytes() == (served.scratch / lfn).read_bytes()
        assert line["digest"] == digest_path(str(dest))
        assert line["stat"] == stamp(dest.stat())
        assert line["source"] == stamp((served.scratch / lfn).stat())
    assert requests(daemon) == [len(RESULTS)]


def test_what_was_brought_is_not_asked_for_again(
    served: Site, daemon: Daemon, client: Client
) -> None:
    jobs = make_results(served)
    do(served, *jobs)
    (served.scratch / "out3").write_text("a new result")
    assert do(served, *jobs).returncode == 0
    assert (served.out / "out3").read_text() == "a new result"
    assert requests(daemon) == [len(RESULTS), 1]


@pytest.mark.parametrize("how", ["bb copy", "pfs link", "pfs copy"])
def test_an_input_comes_as_it_is_placed(
    served: Site, given: Path, client: Client, how: str
) -> None:
    served.place({"deep/in.txt": how})
    (served.pfs / "link").symlink_to(given)
    job = transfer("deep/in.txt", served.pfs / "link", f"{SCRATCH}/deep/in.txt")
    assert do(served, job).returncode == 0
    come, home = served.scratch / "deep/in.txt", served.pfs_scratch / "deep/in.txt"
    assert come.is_symlink() is (how != "bb copy")
    assert home.exists() is (how == "pfs copy")
    assert come.read_text() == "input data"


def test_a_program_can_be_started_and_a_folder_comes_whole(
    served: Site, given: Path, client: Client
) -> None:
    (served.scratch / "folder").mkdir()
    (served.scratch / "folder" / "a").write_text("inside")
    jobs = [
        transfer("tool", given, f"{SCRATCH}/tool", executable="True"),
        transfer("folder", f"{SCRATCH}/folder", served.out / "folder"),
    ]
    assert do(served, *jobs).returncode == 0
    assert os.access(served.scratch / "tool", os.X_OK)
    assert (served.out / "folder" / "a").read_text() == "inside"


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


def test_a_service_that_is_away_is_waited_for(served: Site, daemon: Daemon) -> None:
    jobs = make_results(served)
    later = threading.Timer(1.0, daemon.start)
    later.start()
    try:
        done = do(served, *jobs)
    finally:
        later.join()
    assert done.returncode == 0
    assert done.stderr.count(b"waiting up to 60 s") == 1
    assert noted(served).keys() == set(RESULTS)


def test_the_wait_has_an_end(served: Site, daemon: Daemon, given: Path) -> None:
    declare(served, timeout="1s")
    done = do(served, transfer("in", given, f"{SCRATCH}/in"))
    assert done.returncode == SCHEDULER_UNREACHABLE
    last = done.stderr.decode().splitlines()[-1]
    assert "no staging service" in last and "no other answer in 1 s" in last
    assert f"--sockets {daemon.sockets} status" in last


def test_results_that_drain_at_a_rate_have_it_together(
    served: Site, daemon: Daemon, client: Client
) -> None:
    jobs = make_results(served)
    size = sum((served.scratch / lfn).stat().st_size for lfn in RESULTS)
    note = {"run": "uuid", "rate": size, "target": None, "windows": {}, "end": 0}
    served.write("drain.json", note)
    begun = time.time()
    assert do(served, *jobs).returncode == 0
    tasks = client.status()
    assert {(task["share"], task["rate"]) for task in tasks} == {("uuid", size)}
    ended = sorted(task["ended_at"] for task in tasks)
    assert ended[-1] - begun >= 0.85  # the last one is told, and not waited for
    assert all((served.out / lfn).exists() for lfn in RESULTS)


def test_the_last_results_hurry_those_that_still_drain(
    served: Site, daemon: Daemon, client: Client
) -> None:
    """A stage-out that has an hour has it no longer when the last jobs have ended."""
    daemon.make("early", 1 << 20)
    early = client.submit([daemon.copy("early", rate=300, share="uuid an_early_node")])
    jobs = make_results(served)
    served.write("drain.json", NOTE)
    done = do(served, *jobs, PEGASUS_DAG_JOB_ID="last")
    assert done.returncode == 0, done.stderr
    assert client.wait(early)[0]["state"] == "done"


class Told:
    """A client whose service has lost everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def submit(self, tasks: list[dict[str, Any]]) -> range:
        self.asked.append("submit")
        return range(len(tasks))

    def ask(self, do: str, **_: object) -> None:
        self.asked.append(do)

    def wait(self, _: object) -> list[dict[str, Any]]:
        return []


def test_the_last_results_share_the_limit_with_those_that_still_drain() -> None:
    """If they came after the change, they would have the same limit once more."""
    patient, client = PatientClient("nowhere", 0.0), Told()
    patient._client = client  # type: ignore[assignment]
    assert list(patient.ended([{}], ("uuid", 1e6))) == [None]
    assert client.asked == ["submit", "rate"]


def test_one_that_drains_is_waited_for(served: Site, daemon: Daemon) -> None:
    jobs = make_results(served)
    client = daemon.start()
    daemon.make("large", 8 << 20)
    client.submit([daemon.copy("large", rate=4 << 20)])
    daemon.control().ask("drain")

    def start_the_next() -> None:
        assert daemon.process is not None
        daemon.process.wait(timeout=60)
        daemon.start()

    thread = threading.Thread(target=start_the_next)
    thread.start()
    try:
        done = do(served, *jobs)
    finally:
        thread.join()
    assert done.returncode == 0, done.stderr
    assert b"takes no new task" in done.stderr


def test_a_killed_service_goes_on_and_so_does_the_transfer(
    served: Site, daemon: Daemon, client: Client
) -> None:
    jobs = make_results(served)
    daemon.control().ask("pause")
    thread, answers = in_the_background(served, jobs)
    until(lambda: client.status())
    daemon.kill()
    daemon.start()
    thread.join(timeout=60)
    assert answers[0].returncode == 0, answers[0].stderr
    assert requests(daemon).count(len(RESULTS)) <= 1
    assert noted(served).keys() == set(RESULTS)


@pytest.mark.parametrize("was_copied", [True, False])
def test_what_a_service_has_forgotten_is_looked_at_and_asked_for_again(
    served: Site, daemon: Daemon, client: Client, was_copied: bool
) -> None:
    jobs = make_results(served)
    daemon.control().ask("pause")
    thread, answers = in_the_background(served, jobs)
    until(lambda: client.status())
    daemon.kill()
    shutil.rmtree(daemon.folder / "state")
    if was_copied:
        for lfn in RESULTS:
            shutil.copyfile(served.scratch / lfn, served.out / lfn)
    again = daemon.start()
    thread.join(timeout=60)
    assert answers[0].returncode == 0, answers[0].stderr
    assert len(again.status()) == (0 if was_copied else len(RESULTS))
    for lfn in RESULTS:
        assert noted(served)[lfn]["digest"] == digest_path(str(served.out / lfn))


def test_another_task_with_the_same_number_is_not_ours(
    served: Site, daemon: Daemon, client: Client
) -> None:
    jobs = make_results(served)
    daemon.control().ask("pause")
    thread, answers = in_the_background(served, jobs)
    until(lambda: client.status())
    daemon.kill()
    shutil.rmtree(daemon.folder / "state")
    before, daemon.sockets = daemon.sockets, daemon.folder / "sock2"
    daemon.environ["PEGASUS_BB_STAGER"] = str(daemon.sockets)
    daemon.make("other", 10)
    daemon.start().submit([daemon.copy("other")] * len(RESULTS))
    (daemon.sockets / "user").rename(before / "user")  # now it is found
    thread.join(timeout=60)
    assert answers[0].returncode == 0, answers[0].stderr
    assert noted(served).keys() == set(RESULTS)


def in_the_background(
    site: Site, jobs: list[dict[str, Any]]
) -> tuple[threading.Thread, list[Any]]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(do(site, *jobs)))
    thread.start()
    return thread, answers


def test_a_path_in_no_dataspace_is_named(daemon: Daemon, client: Client) -> None:
    patient = PatientClient(str(daemon.sockets), 1.0)
    patient._about = {"roots": {"lustre": "/lus", "home": "/home"}}
    with pytest.raises(Exception, match=r"^/fast/a: lies in no dataspace .* lustre"):
        patient.url_of("/fast/a")


def hinted(site: Site, given: Path) -> dict[str, Any]:
    site.place({"in.txt": "bb copy"})
    placement = json.loads((site.bb / "placement.json").read_text())
    placement["files"]["in.txt"]["hint"] = HINTS["long"]
    site.write("placement.json", placement)
    return transfer("in.txt", given, f"{SCRATCH}/in.txt")


def test_an_input_has_its_hint(served: Site, given: Path, client: Client) -> None:
    assert do(served, hinted(served, given)).returncode == 0
    [task] = client.status()
    assert task["hint"] == HINTS["long"]


def test_a_service_that_knows_no_hints_copies_without(
    served: Site, daemon: Daemon, given: Path
) -> None:
    """An older one would refuse the task. It is said, and nothing fails."""
    daemon.before = (
        "import pegasus_bb.runtime.stager_client.task as t; "
        "t.KEYS = t.KEYS - {'hint'}; "
        "from pegasus_bb.stager.requests import Requests as R; ping = R._ping; "
        "R._ping = lambda *a: {k: v for k, v in ping(*a).items() if k != 'keys'}; "
    )
    with daemon.start():
        done = do(served, hinted(served, given))
    assert done.returncode == 0
    assert (served.scratch / "in.txt").read_text() == "input data"
    assert b"is older and takes no 'hint'" in done.stderr


def test_no_service_is_an_error_of_its_own(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(NoService, match="Is it running"):
        PatientClient(str(tmp_path), 0.3).url_of("/a")
    assert time.monotonic() - began < 10


def test_a_transfer_that_is_ended_takes_back_its_tasks(
    served: Site, daemon: Daemon, client: Client
) -> None:
    """Else they could make folders in a reservation that was given back."""
    jobs = make_results(served)
    daemon.control().ask("pause")
    install_runtime(str(served.bb), sys.executable)
    program = subprocess.Popen(
        [served.program("transfer")], stdin=subprocess.PIPE, cwd=served.root
    )
    assert program.stdin is not None
    program.stdin.write(json.dumps(jobs).encode())
    program.stdin.close()
    until(lambda: client.status())
    program.terminate()
    assert program.wait(timeout=60) == 128 + signal.SIGTERM
    until(lambda: {task["state"] for task in client.status()} == {"cancelled"})
    daemon.control().ask("resume")
    assert list(served.out.iterdir()) == []
    assert do(served, *jobs).returncode == 0


def test_a_signal_before_the_answer_leaves_no_task(
    daemon: Daemon, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks are accepted, and their numbers are still on the way."""
    daemon.make("file", 3000)
    daemon.control().ask("pause")
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
