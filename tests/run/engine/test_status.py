"""pegasus-bb run and pegasus-bb status as a user types them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.cli.status import reservation_line, reservation_status
from pegasus_bb.core import ledger
from pegasus_bb.core.errors import RunFailed
from pegasus_bb.core.files import ENGINE_LOCK, write_json
from pegasus_bb.model.reservation import Request
from pegasus_bb.run.engine.jobstate_log import failure
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.run_status import run_status
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.run.engine.tier_usage import bytes_below
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir

from .conftest import Folder, give_back, request_of

MONITORD = "found a failure in what its job left (job 27.0)"
pytestmark = pytest.mark.usefixtures("any_dag_will_do")


def as_json(folder: Folder) -> dict[str, Any]:
    done = folder.command("status", "--json", str(folder.path))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_before_the_run(folder: Folder) -> None:
    for name in "abc":
        folder.job(name)
    folder.chain("a", "c")
    folder.write()
    found = as_json(folder)
    assert (found["nodes"]["ready"], found["nodes"]["waiting"]) == (2, 1)
    unknown = {"engine": "", "finished": None, "reservation": None}
    assert found.items() >= unknown.items()


def test_every_path_is_one_that_works_from_anywhere(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.job("a", "exits=3")
    with pytest.raises(RunFailed):
        folder.run()
    monkeypatch.chdir(folder.path.parent)
    done = folder.command("status", folder.path.name)
    assert done.stdout.startswith(f"{folder.path}/w.dag: stopped")
    named = [word for word in done.stdout.split() if folder.path.name in word]
    assert named
    assert all(str(folder.path) in word for word in named), named


def test_while_it_runs(folder: Folder) -> None:
    folder.steps("a", "b until=go ready=up", "c")
    engine = folder.start(until="up")
    folder.wait_for_event("b", "EXECUTE")
    found = as_json(folder)
    assert found["engine"].startswith(f"pid {engine.pid} on host ")
    assert found["running"] == ["b"]
    counts = {name: n for name, n in found["nodes"].items() if n}
    assert counts == {"done": 1, "running": 1, "waiting": 1, "total": 3}
    folder.finish(engine)
    assert as_json(folder)["nodes"]["done"] == 3


def test_after_a_failure(folder: Folder) -> None:
    folder.steps("a", "b exits=7", "c")
    folder.fails()
    status = run_status(find_submit_dir(folder.path))
    assert status.failed == ["b"]
    assert (status.nodes["done"], status.nodes["futile"]) == (1, 1)
    assert status.last_failures[0] == "  b: its job ended with exit status 7"
    text = folder.command("status", str(folder.path)).stdout
    assert "stopped; `pegasus-bb run` continues it" in text


def test_a_failure_that_a_retry_mended_is_not_a_failed_node(folder: Folder) -> None:
    folder.job("a", "exits=1,0", retry=1)
    folder.run()
    status = run_status(find_submit_dir(folder.path))
    assert (status.failed, status.nodes["done"]) == ([], 1)
    assert status.last_failures == []


def test_of_a_failed_node_the_last_attempt_is_shown(folder: Folder) -> None:
    post = folder.script("post", "exits=1")
    folder.job("a", "exits=7,8", retry=1, post=post)
    folder.write()
    for _ in range(2):
        folder.fails()
    shown = folder.command("status", str(folder.path)).stdout
    assert shown.endswith(
        "failed:\n  a: its job ended with exit status 8\n"
        f"    see {folder.path}/a.err\n    | errors of a\n"
        f"    see {folder.path}/a.post.err\n"
        "    | output of post\n    | errors of post\n"
    )


@pytest.mark.parametrize(
    ("event", "detail", "why"),
    [
        ("JOB_FAILURE", "76", "its job ended with exit status 76"),
        ("JOB_FAILURE", "-9", "its job ended with signal 9"),
        ("PRE_SCRIPT_FAILURE", "77", "its PRE script ended with exit status 77"),
        ("POST_SCRIPT_FAILURE", "1", "its POST script ended with exit status 1"),
        ("PRE_SCRIPT_FAILURE", "-", "its PRE script failed"),
        # monitord notes the number of the job where we note a status.
        ("POST_SCRIPT_FAILURE", "27.0", f"its POST script {MONITORD}"),
    ],
)
def test_failure_message_of_a_journal_line(event: str, detail: str, why: str) -> None:
    assert failure(event, detail) == why


def test_held_jobs_are_counted_apart(folder: Folder) -> None:
    folder.job("a")
    folder.job("b")
    folder.write()
    lines = ["a SUBMIT 1.0 - - 1", "a JOB_HELD 1.0 - - 1", "b SUBMIT 2.0 - - 2"]
    lines.insert(0, "INTERNAL *** DAGMAN_STARTED 1.0 ***")
    text = "".join(f"1700000000 {line}\n" for line in lines)
    (folder.path / "jobstate.log").write_text(text)
    with lock_submit_dir(folder.path / ENGINE_LOCK):
        status = run_status(find_submit_dir(folder.path))
        shown = folder.command("status", str(folder.path)).stdout
    assert (status.held, status.running) == (["a"], ["b"])
    assert (status.nodes["held"], status.nodes["running"]) == (1, 1)
    assert "\nheld: a\n  `condor_q -hold` says why" in shown


@pytest.fixture
def request_(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Request:
    """Of a run that has not asked for it yet; the tier's folder is not there."""
    folder.job("a")
    folder.write()
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    request = request_of("pbbstatus", tmp_path / "tier")
    (folder.path / "bb").mkdir()
    write_json(str(folder.path / "bb" / "plan.json"), {"version": 2, "dag": "w.dag"})
    write_json(str(folder.path / "bb" / "request.json"), request.to_json())
    return request


def ask_for(folder: Folder, request: Request) -> None:
    noted = open_backend("directory", request.settings).create(request)
    BBDir(str(folder.path / "bb")).note_reservation(noted)


def line_of_reservation(folder: Folder) -> str:
    text = folder.command("status", str(folder.path)).stdout
    (line,) = [x for x in text.splitlines() if x.startswith("reservation ")]
    return line


def test_before_it_is_asked_for_the_backend_is_not_asked(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    found = as_json(folder)["reservation"]
    assert (found["state"], found["message"]) == ("absent", "not asked for yet")
    line = line_of_reservation(folder)
    assert line == "reservation pbbstatus (directory): not asked for yet"
    assert not (tmp_path / "tier").exists()


def test_bytes_on_the_reservation(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    ask_for(folder, request_)
    empty = as_json(folder)["reservation"]["bytes"]
    data = tmp_path / "tier" / "pbbstatus" / "data"
    data.write_bytes(b"x" * 5000)
    found = as_json(folder)["reservation"]
    assert (found["state"], found["bytes"] - empty) == ("ready", 5000)
    assert found["over"] is False
    line = line_of_reservation(folder)
    assert "reservation pbbstatus (directory): ready" in line
    assert "of 8.0 MiB used" in line and "MORE" not in line
    data.write_bytes(bytes(9 << 20))
    assert as_json(folder)["reservation"]["over"] is True
    assert "9.0 MiB of 8.0 MiB used, MORE THAN RESERVED" in line_of_reservation(folder)


def test_a_file_system_with_less_space_than_reserved_is_reported(
    folder: Folder, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for(folder, request_)
    full = SimpleNamespace(f_bavail=0, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    found = reservation_status(folder.path / "bb")
    assert found is not None and found["free"] == 0
    assert "used, ONLY 0 B FREE on its file system" in reservation_line(found)


def test_a_reservation_whose_note_is_lost_is_reported(
    folder: Folder, request_: Request
) -> None:
    ledger.note("requested", name=request_.name, uuid=request_.uuid)
    found = reservation_status(folder.path / "bb")
    assert found is not None and "was lost" in found["message"]
    assert "state" not in found


@pytest.mark.parametrize(
    ("left", "advice"),
    [(1, "not started"), (2, "stopped; pegasus-bb run --restart starts over")],
)
def test_when_it_was_given_back(
    folder: Folder, request_: Request, left: int, advice: str
) -> None:
    for number in range(1, left):
        folder.job(f"b{number}")
    folder.write()
    ask_for(folder, request_)
    give_back(folder.path, request_)
    line = line_of_reservation(folder)
    assert line.startswith("reservation pbbstatus (directory): given back at 20")
    assert "no such" not in line
    assert advice in folder.command("status", str(folder.path)).stdout


def test_counting_bytes_is_bounded_in_time(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("/")
    assert bytes_below(tmp_path)[1] is True
    assert bytes_below(tmp_path, seconds=-1)[1] is False
    assert bytes_below(tmp_path / "deep") == (5, True)


def test_holes_and_further_names_of_a_file_take_no_space(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "other").hardlink_to(tmp_path / "file")
    assert bytes_below(tmp_path) == (5, True)


def test_run_answers_with_its_exit_codes(folder: Folder) -> None:
    folder.job("a", "exits=1,0", "err=why it failed")
    folder.write()
    for status, says in (
        (80, "| why it failed"),
        (0, "all 1 nodes are done"),
        (0, "were done before"),
    ):
        done = folder.command("run", str(folder.path))
        assert (done.returncode, "Traceback" in done.stderr) == (status, False)
        assert says in done.stderr


@pytest.mark.parametrize(
    "arguments", ["run nowhere", "status {0}", "run --slots 0 {0}"]
)
def test_bad_use_answers_2(folder: Folder, arguments: str) -> None:
    assert folder.command(*arguments.format(folder.path).split()).returncode == 2
