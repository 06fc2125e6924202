"""pegasus-bb run and pegasus-bb status as a user types them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb import ledger
from pegasus_bb.cli.status import reservation_line, reservation_status
from pegasus_bb.engine.journal import failure
from pegasus_bb.engine.lock import locked
from pegasus_bb.engine.status import bytes_below, run_status
from pegasus_bb.errors import RunFailed
from pegasus_bb.files import ENGINE_LOCK, write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.engine.dagman.conftest import RECORDED
from tests.engine.requests import request_of

from .conftest import Folder


@pytest.fixture(autouse=True)
def any_dag_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The DAGs here stand in for sealed ones; the seal has stories of its own."""
    monkeypatch.setattr(
        "pegasus_bb.engine.preparation.check_directory", lambda *_: None
    )


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
    assert (found["engine"], found["finished"], found["reservation"]) == (
        "",
        None,
        None,
    )


def test_while_it_runs(folder: Folder) -> None:
    folder.job("a")
    folder.job("b", "until=go", "ready=up")
    folder.job("c")
    folder.chain("a", "b", "c")
    engine = folder.start()
    folder.wait_for("up")
    folder.wait_for_event("b", "EXECUTE")
    found = as_json(folder)
    assert found["engine"].startswith(f"pid {engine.pid} on host ")
    assert found["running"] == ["b"]
    assert {name: n for name, n in found["nodes"].items() if n} == {
        "done": 1,
        "running": 1,
        "waiting": 1,
        "total": 3,
    }
    (folder.path / "go").touch()
    assert engine.wait(timeout=120) == 0
    engine.communicate()
    assert as_json(folder)["nodes"]["done"] == 3


def test_after_a_failure(folder: Folder) -> None:
    for name, words in (("a", ()), ("b", ("exits=7",)), ("c", ())):
        folder.job(name, *words)
    folder.chain("a", "b", "c")
    with pytest.raises(RunFailed):
        folder.run()
    status = run_status(folder.path)
    assert status.failed == ["b"]
    assert (status.nodes["done"], status.nodes["futile"]) == (1, 1)
    (failure,) = status.last_failures
    assert (failure["node"], failure["event"], failure["status"]) == (
        "b",
        "JOB_FAILURE",
        "7",
    )
    text = folder.command("status", str(folder.path)).stdout
    assert "stopped; pegasus-bb run goes on" in text
    told = r"^failed:\n  20.* b: its job ended with exit status 7\n    see /.*/b.err\n"
    assert re.search(told, text, re.MULTILINE)
    assert "    | errors of b\n" in text


def test_a_failure_that_a_retry_mended_is_not_a_failed_node(folder: Folder) -> None:
    folder.job("a", "exits=1,0", retry=1)
    folder.run()
    status = run_status(folder.path)
    assert (status.failed, status.nodes["done"]) == ([], 1)
    text = folder.command("status", str(folder.path)).stdout
    heading = (
        r"^failed earlier, then done:\n  20.* a: its job ended with exit status 1$"
    )
    assert re.search(heading, text, re.MULTILINE)
    assert "\nfailed:" not in text


def test_an_attempt_that_failed_is_one_line_under_its_own_heading(
    folder: Folder,
) -> None:
    post = folder.script("post", "exits=1")
    folder.job("a", "exits=7,8", retry=1, post=post)
    folder.write()
    for _ in range(2):
        with pytest.raises(RunFailed):
            folder.run()
    told = re.sub(
        r"  20\S+ \S+ ", "  ", folder.command("status", str(folder.path)).stdout
    )
    ended = "  a: its job ended with exit status"
    assert told.endswith(
        f"failed:\n{ended} 8\n    see {folder.path}/a.err\n    | errors of a\n"
        f"    see {folder.path}/a.post.err\n"
        "    | output of post\n    | errors of post\n"
        f"failed in an earlier attempt:\n{ended} 7\n{ended} 8\n{ended} 8\n"
    )


@pytest.mark.parametrize(
    ("event", "detail", "why"),
    [
        ("JOB_FAILURE", "76", "its job ended with exit status 76"),
        ("JOB_FAILURE", "-9", "its job ended with signal 9"),
        ("PRE_SCRIPT_FAILURE", "77", "its PRE script ended with exit status 77"),
        ("POST_SCRIPT_FAILURE", "1", "its POST script ended with exit status 1"),
        ("PRE_SCRIPT_FAILURE", "-", "its PRE script failed"),
    ],
)
def test_a_line_of_the_journal_in_words(event: str, detail: str, why: str) -> None:
    assert failure(event, detail) == why


def test_held_jobs_are_counted_apart(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.job("a")
    folder.job("b")
    folder.write()
    lines = ["a SUBMIT 1.0 - - 1", "a JOB_HELD 1.0 - - 1", "b SUBMIT 2.0 - - 2"]
    lines.insert(0, "INTERNAL *** DAGMAN_STARTED 1.0 ***")
    text = "".join(f"1700000000 {line}\n" for line in lines)
    (folder.path / "jobstate.log").write_text(text)
    with locked(folder.path / ENGINE_LOCK):
        status = run_status(folder.path)
        said = folder.command("status", str(folder.path)).stdout
    assert (status.held, status.running) == (["a"], ["b"])
    assert (status.nodes["held"], status.nodes["running"]) == (1, 1)
    assert "\nheld: a\n  `condor_q -hold` says why" in said


def test_monitord_notes_the_job_s_number_where_we_note_a_status() -> None:
    lines = (RECORDED / "failed.jobstate.log").read_text().splitlines()
    event, detail = next(x.split()[2:4] for x in lines if "POST_SCRIPT_F" in x)
    assert detail == "27.0"
    found = "its POST script found a failure in what its job left (job 27.0)"
    assert failure(event, detail) == found


@pytest.fixture
def request_(folder: Folder, tmp_path: Path) -> Request:
    """A run with a reservation that nobody has asked for yet, on a tier whose folder
    is not there before."""
    folder.job("a")
    folder.write()
    request = request_of("pbbstatus", tmp_path / "tier")
    (folder.path / "bb").mkdir()
    write_json(str(folder.path / "bb" / "plan.json"), {"version": 2, "dag": "w.dag"})
    write_json(str(folder.path / "bb" / "request.json"), request.to_json())
    return request


def ask_for(folder: Folder, request: Request) -> Reservation:
    noted = open_backend("directory", request.settings).create(request)
    BBDir(str(folder.path / "bb")).note_reservation(noted)
    return noted


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


def test_the_reservation_and_the_bytes_on_it(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    ask_for(folder, request_)
    empty = as_json(folder)["reservation"]["bytes"]
    (tmp_path / "tier" / "pbbstatus" / "data").write_bytes(b"x" * 5000)
    found = as_json(folder)["reservation"]
    assert (found["state"], found["bytes"] - empty) == ("ready", 5000)
    line = line_of_reservation(folder)
    assert "reservation pbbstatus (directory): ready" in line
    assert "of 8.0 MiB used" in line


def test_a_file_system_that_has_less_than_is_reserved_is_said(
    folder: Folder, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_for(folder, request_)
    full = SimpleNamespace(f_bavail=0, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    found = reservation_status(folder.path / "bb")
    assert found is not None and found["free"] == 0
    assert "used, ONLY 0 B FREE on its file system" in reservation_line(found)


def test_more_on_it_than_was_reserved_is_said(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    ask_for(folder, request_)
    assert as_json(folder)["reservation"]["over"] is False
    assert "MORE THAN RESERVED" not in line_of_reservation(folder)
    with (tmp_path / "tier" / "pbbstatus" / "data").open("wb") as data:
        data.truncate(9 << 20)
    assert as_json(folder)["reservation"]["over"] is True
    assert "9.0 MiB of 8.0 MiB used, MORE THAN RESERVED" in line_of_reservation(folder)


@pytest.mark.parametrize(
    ("events", "words", "advice"),
    [
        (["discarded"], "discarded at 20", "run --restart starts over"),
        (["released"], "given back at 20", "not started"),
        (["discarded", "requested", "released"], "given back at 20", "not started"),
        ([], "given back at 20", "not started"),
    ],
)
def test_how_it_was_given_back(
    folder: Folder,
    request_: Request,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    events: list[str],
    words: str,
    advice: str,
) -> None:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    noted = ask_for(folder, request_)
    open_backend("directory", request_.settings).delete(request_)
    bb = BBDir(str(folder.path / "bb"))
    bb.note_reservation(replace(noted, released_at=1700000000.0))
    for event in events:
        ledger.note(event, name=request_.name, uuid=request_.uuid)
    line = line_of_reservation(folder)
    assert line.startswith(f"reservation pbbstatus (directory): {words}")
    assert "no such" not in line
    assert advice in folder.command("status", str(folder.path)).stdout


def test_counting_bytes_is_bounded_in_time(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("/")
    assert bytes_below(tmp_path)[1] is True
    assert bytes_below(tmp_path, seconds=-1)[1] is False
    assert bytes_below(tmp_path / "deep") == (5, True)


def test_run_answers_with_its_exit_codes(folder: Folder) -> None:
    folder.job("a", "exits=1,0", "err=why it failed")
    folder.write()
    failed = folder.command("run", str(folder.path))
    assert failed.returncode == 80
    assert "| why it failed" in failed.stderr
    assert "Traceback" not in failed.stderr
    done = folder.command("run", str(folder.path))
    assert done.returncode == 0
    assert "all 1 nodes are done" in done.stderr
    again = folder.command("run", str(folder.path))
    assert again.returncode == 0 and "were done before" in again.stderr


def test_bad_use_answers_2(folder: Folder, tmp_path: Path) -> None:
    assert folder.command("run", str(tmp_path / "nowhere")).returncode == 2
    assert folder.command("status", str(folder.path)).returncode == 2
    assert folder.command("run", "--slots", "0", str(folder.path)).returncode == 2
