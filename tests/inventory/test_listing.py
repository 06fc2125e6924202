"""pegasus-bb ls: what is held, by whom, and what can be said about it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from pegasus_bb import ledger
from pegasus_bb.cli.gc import command as gc_command
from pegasus_bb.cli.ls import command
from pegasus_bb.engine.processes import Processes
from pegasus_bb.inventory.listing import list_reservations
from pegasus_bb.reservation.directory import Directory
from tests.engine.dagman.conftest import Tools, tools
from tests.inventory.conftest import SubmitDirFixture, elsewhere

__all__ = ["tools"]


@pytest.fixture(autouse=True)
def collecting(monkeypatch: pytest.MonkeyPatch) -> None:
    """ls ends its process; these tests go on."""
    monkeypatch.setattr("gc.disable", lambda: None)


def said(*options: str) -> str:
    done = CliRunner().invoke(command, list(options), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


# -- what a run is doing


@pytest.mark.parametrize(
    ("status", "doing"), [(0, "ended ok"), (1, "failed, data kept")]
)
def test_a_run_that_has_ended(
    submit_dirs: SubmitDirFixture, status: int, doing: str
) -> None:
    run = submit_dirs.dead()
    run.ends(status)
    found = run.held()
    assert (found.run, found.state, found.label) == (doing, "ready", "l-pbbone")
    assert (found.site, found.tier, found.size) == ("cori", "bb", 100 << 20)
    resume = f"pegasus-bb run {run.submit}"
    if status:
        assert found.next == (resume, "pegasus-bb release pbbone")
    else:  # its result is saved nowhere
        assert found.next == ("pegasus-bb release pbbone --discard",)


def test_a_run_that_was_killed_and_then_goes_on(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    assert run.held().run == "dead: nobody works on it"
    handle = os.open(run.submit / ".engine.lock", os.O_CREAT | os.O_RDWR)
    os.write(handle, b"pid 4711 on host h")
    fcntl.flock(handle, fcntl.LOCK_EX)
    found = run.held()
    os.close(handle)
    assert (found.run, found.run_words) == ("running", "pid 4711 on host h")
    assert found.next == (f"pegasus-bb status {run.submit}",)


def test_a_task_that_outlives_its_killed_engine_is_the_run(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    journal = Processes(Path(run.bb.file("engine.jsonl")))
    journal.starting("mark-of-a-task")
    environ = {**os.environ, Processes.VARIABLE: "mark-of-a-task"}
    task = subprocess.Popen(["sleep", "60"], env=environ)
    its_own = Path(f"/proc/{task.pid}/environ")
    try:
        while b"mark-of-a-task" not in its_own.read_bytes():  # exec is under way
            time.sleep(0.001)
        found = run.held()
        assert (found.run, str(task.pid) in found.run_words) == ("running", True)
    finally:
        task.kill()
        task.wait()
    assert run.held().run == "dead: nobody works on it"


def test_all_dagmans_are_asked_after_in_one_question(
    submit_dirs: SubmitDirFixture, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = "000 (0{}.000.000) 2026-11-21 14:04:29 Job submitted from host: {}\n...\n"
    host = "<127.0.0.1:1?alias=testbed>"
    for number in (31, 32, 33):
        run = submit_dirs.dead(f"pbb{number}")
        (run.submit / "w.dag.dagman.log").write_text(begun.format(number, host))
    tools.program(
        "condor_q", '#!/bin/sh\necho "$@" >> {tools}/asked\ncat {tools}/queue\n'
    )
    tools.queue("31\t2\tundefined", "32\t5\tby a person", "99\t2\tundefined")
    doing = {h.name: (h.run, h.run_words) for h in list_reservations()}
    assert doing == {
        "pbb31": ("running", "DAGMan, job 31"),
        "pbb32": ("running", "DAGMan, job 32"),
        "pbb33": ("dead: nobody works on it", ""),
    }
    [asked] = (tools.folder / "asked").read_text().splitlines()
    assert "-allusers" in asked


# -- where it is


def test_a_submit_directory_of_another_machine_shows_all_the_same(
    submit_dirs: SubmitDirFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submit_dirs.dead()
    host = run.held().host
    run.submit.rename(submit_dirs.root / "away")
    elsewhere(monkeypatch)
    found = run.held()
    assert (found.run, found.state) == ("submit directory not here", "ready")
    assert f"planned on host {host}" in found.run_words
    assert (found.site, found.tier, found.next) == ("cori", "bb", ())


def test_a_run_that_was_moved_aside_is_found(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    aside = run.submit.with_name("submit.001")
    run.submit.rename(aside)
    assert run.held().submit_dir == str(aside)


def test_a_folder_of_runs_that_may_not_be_listed(
    submit_dirs: SubmitDirFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submit_dirs.dead()
    real = os.scandir

    def scandir(path: str) -> Any:
        if str(path) == str(run.submit.parent):
            raise PermissionError(path)
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    assert run.held().run == "dead: nobody works on it"


@pytest.mark.parametrize("odd", [{"submit_dir": "/home/caf\udce9/run"}, {"size": 1e30}])
@pytest.mark.parametrize("said", [command, gc_command])
def test_as_json_whatever_a_line_holds(
    submit_dirs: SubmitDirFixture, said: click.Command, odd: dict[str, Any]
) -> None:
    """A path that is no UTF-8, or a size that is no size, hides no other run."""
    run = submit_dirs.dead()
    ledger.note("requested", name="odd", uuid="u", backend="directory", **odd)
    done = CliRunner().invoke(said, ["--json"], catch_exceptions=False)
    assert len(json.loads(done.stdout)) == 2
    assert run.request.name in done.stdout


def test_a_later_run_in_its_place_is_not_it(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.write("request.json", {**run.request.to_json(), "uuid": "later"})
    found = run.held()
    assert (found.run, found.state) == ("submit directory not here", "ready")


def test_a_folder_that_is_no_tier_any_more_is_left_as_it_is(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.saves()
    assert run.delete() == 0
    shutil.rmtree(run.tier_of_all)
    run.tier_of_all.mkdir()
    assert list_reservations() == []
    assert list(run.tier_of_all.iterdir()) == []


def test_a_tier_that_is_away_is_unknown_never_gone(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    tier = run.tier_of_all
    tier.rename(submit_dirs.root / "unmounted")
    found = run.held()
    assert (found.state, "is it mounted" in found.message) == ("unknown", True)
    tier.mkdir()  # the empty place of the mount
    found = run.held()
    assert (found.state, "is it mounted" in found.message) == ("unknown", True)
    shutil.rmtree(run.submit)
    assert run.held().state == "unknown"


def test_one_that_is_not_there_any_more_is_absent(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    shutil.rmtree(run.folder())
    assert run.held().state == "absent"


@pytest.mark.parametrize("backend", ["directory", "datawarp", "rabbit", ""])
def test_a_line_of_an_older_run_whose_directory_is_away(
    submit_dirs: SubmitDirFixture, backend: str
) -> None:
    submit_dirs.note(
        name="pbbold", uuid="1", backend=backend, size=5, submit_dir="/nowhere"
    )
    [found] = list_reservations()
    assert (found.name, found.state, found.size) == ("pbbold", "unknown", 5)
    assert found.message


@pytest.mark.parametrize(
    "line",
    [
        {"request": {"name": "pbbother", "uuid": "1"}},
        {"request": {"capacity": "much"}},
        {"request": {"settings": {"path": 5}}},
        {"request": {"settings": {"quota": "x"}}},
        {"name": "hurry up; $(id)"},
        {"name": "", "uuid": ""},
    ],
)
def test_a_line_that_somebody_edited_is_shown_and_hides_no_other(
    submit_dirs: SubmitDirFixture, line: dict[str, Any]
) -> None:
    run = submit_dirs.dead()
    [whole] = ledger.entries()
    edited = {**whole, "name": "pbbodd", "submit_dir": "/nowhere", **line}
    request = {**whole["request"], "name": "pbbodd", **line.get("request", {})}
    submit_dirs.note(**{**edited, "request": request})
    found = {h.name: h.state for h in list_reservations()}
    assert found[run.name] == "ready"
    assert found[str(edited["name"])] == "unknown"


def test_a_place_that_cannot_be_one_is_no_place(submit_dirs: SubmitDirFixture) -> None:
    submit_dirs.note(name="pbbodd", uuid="1", backend="datawarp", submit_dir="\0")
    submit_dirs.note(name="pbbnot", uuid="1", backend="datawarp", submit_dir="")
    assert [h.run for h in list_reservations()] == ["submit directory not here"] * 2


# -- what is not on the ledger


def test_rows_that_the_ledger_does_not_know(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    backend = Directory(run.request.settings)
    by_hand = submit_dirs.run("pbbhand")
    backend.create(by_hand.request)
    others = submit_dirs.run("pbbothers", owner="somebody")
    Directory(others.request.settings).create(others.request)
    [ours, strange] = list_reservations()
    assert (ours.name, strange.name) == ("pbbone", "pbbhand")
    assert (strange.on_ledger, strange.run) == (False, "not on this ledger")
    assert strange.next == ()
    assert "not on this ledger" in said()


def test_those_given_back_show_with_all(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.saves()
    assert run.delete() == 0
    assert list_reservations() == []
    [found] = list_reservations(everything=True)
    assert (found.ended, found.state) == ("released", "")
    assert "no reservations on" in said()
    assert "released" in said("--all")


def test_one_that_is_there_though_it_was_given_back_is_shown(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.saves()
    assert run.delete() == 0
    Directory(run.request.settings).create(run.request)
    [found] = list_reservations()
    assert (found.ended, found.state) == ("released", "ready")
    assert "noted as released already" in found.message


# -- how much it asks and costs


def test_a_tier_is_asked_once_however_many_it_holds(
    submit_dirs: SubmitDirFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        submit_dirs.dead(f"pbb{number}", timeout=f"{number}h")
    calls: list[int] = []
    real = Directory.list_reservations

    def counted(self: Directory, requests: Any) -> Any:
        calls.append(len(requests))
        return real(self, requests)

    monkeypatch.setattr(Directory, "list_reservations", counted)
    assert len(list_reservations()) == 5
    assert calls == [5]


def test_a_long_ledger_takes_about_a_second(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    [line] = ledger.entries()
    with submit_dirs.ledger.open("a") as out:
        for number in range(50_000):
            name = f"pbb{number}"
            request = {**line["request"], "name": name}
            told = {**line, "name": name, "request": request}
            out.write(json.dumps(told) + "\n")
            out.write(json.dumps({**told, "event": "released", "request": 0}) + "\n")
    begin = time.process_time()
    [found] = list_reservations()
    assert time.process_time() - begin < 5.0  # 1.0 s where nobody else is at work
    assert found.name == run.name


# -- what is printed


def test_a_name_cannot_speak_to_the_terminal(submit_dirs: SubmitDirFixture) -> None:
    name = "pbb\x1b[2J\n\u202e"
    submit_dirs.note(
        name=name, uuid="1", backend="directory", size=5, label="\x1b]0;x\x07"
    )
    assert not set(said()) & set("\x1b\x07\u202e")
    assert json.loads(said("--json"))[0]["name"] == name


def test_the_table_and_what_to_say(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.ends(1)
    head, row, *more = said().splitlines()
    assert head.split() == [
        *("reservation", "site/tier", "backend", "size", "state", "age", "run"),
        "doing",
    ]
    assert row.split()[:6] == [
        "pbbone",
        "cori/bb",
        "directory",
        "100.0",
        "MiB",
        "ready",
    ]
    assert row.endswith("l-pbbone  failed, data kept")
    assert more[0] == "pbbone:"
    assert f"  {run.submit}" in more
    assert f"  say: pegasus-bb run {run.submit}" in more


def test_no_ledger_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "none"))
    assert f"no reservations on {tmp_path}/none" in said()
    assert json.loads(said("--json")) == []
