"""pegasus-bb gc: what dead runs have left goes back, and nothing else ever does."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pegasus_bb import ledger
from pegasus_bb.cli.gc import command
from pegasus_bb.cli.release import command as release_command
from pegasus_bb.inventory import leftovers as module
from pegasus_bb.inventory.leftovers import give_back, leftovers
from pegasus_bb.inventory.listing import list_reservations
from pegasus_bb.reservation.directory import Directory
from tests.engine.dagman.conftest import Tools, tools
from tests.inventory.conftest import OneRun, SubmitDirFixture

__all__ = ["tools"]
Happened = Callable[[OneRun], object]
LOG = "000 (032.000.000) 2026-11-21 14:04:29 Job submitted from host: {}\n...\n"
HERE = "<127.0.0.1:1?alias=testbed>"


def gc(*options: str) -> Result:
    return CliRunner().invoke(command, list(options), catch_exceptions=False)


def is_kept(run: OneRun, why: str) -> None:
    """Neither a dry run nor --yes gives it back, and both say why."""
    for options in ((), ("--yes",)):
        done = gc(*options)
        assert why in done.output, done.output
        assert f"KEPT        {run.name} (" in done.output
        assert done.exit_code == 0
    assert run.folder().is_dir()
    assert run.held().ended == ""


def goes(run: OneRun) -> None:
    """A dry run changes nothing, --yes gives it back."""
    before = sorted(run.folder().iterdir())
    assert f"WOULD GO    {run.name} (" in gc().output
    assert sorted(run.folder().iterdir()) == before
    assert run.held().ended == ""
    done = gc("--yes")
    assert f"GIVEN BACK  {run.name} (100.0 MiB, directory): " in done.output
    assert (done.exit_code, run.folder().exists()) == (0, False)
    assert (run.held().ended, run.noted().released_at is not None) == ("released", True)
    assert list_reservations() == []


# -- what goes


def saved(run: OneRun) -> None:
    run.saves()


def ended_well_and_promised_nothing(run: OneRun) -> None:
    run.promise({})
    run.ends(0)


@pytest.mark.parametrize("happened", [saved, ended_well_and_promised_nothing])
def test_of_which_nothing_can_be_lost_it_goes(
    submit_dirs: SubmitDirFixture, happened: Happened
) -> None:
    run = submit_dirs.dead()
    happened(run)
    goes(run)


@pytest.mark.parametrize("gate_waits", [True, False])
def test_no_job_ever_had_it(submit_dirs: SubmitDirFixture, gate_waits: bool) -> None:
    run = submit_dirs.run()
    run.begins()
    if gate_waits:
        run.waits()
    goes(run)


def test_a_request_that_was_refused_is_taken_off_the_list(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.run(fail="create*1: no such pool")
    run.note("INTERNAL *** DAGMAN_STARTED 1 ***")
    assert run.setup() == 76
    run.ends(1)
    assert "never made" in gc("--yes").output
    assert run.held().ended == "refused"
    assert list_reservations() == []


def test_one_that_vanished_after_all_was_saved_is_taken_off_the_list(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.saves()
    shutil.rmtree(run.folder())
    assert "is not there: nothing to give back" in gc("--yes").output
    assert run.held().ended == "released"


def test_killed_once_it_was_listed_and_before_it_was_asked_for(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.run()
    run.setup()
    run.backend().delete(run.request)
    Path(run.bb.file("reservation.json")).unlink()
    assert run.held().state == "absent"
    assert "nothing to give back" in gc("--yes").output
    assert run.held().ended == "released"


def test_a_failed_run_none_of_whose_tasks_is_done(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.fails()
    assert run.held().next[-1] == "pegasus-bb release pbbone"
    assert "no task of its run has made a result" in gc().output
    goes(run)


# -- unsaved results


def test_a_failed_run_that_left_a_promised_result(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.write("placement.json", {**run.bb.placement(), "scratch": "/bb/pbbone/run"})
    (run.folder() / "run").mkdir()
    (run.folder() / "run" / "out.txt").write_text("half of it")
    run.fails()
    is_kept(run, f"{run.folder()}/run/out.txt")
    assert run.held().next[-1] == "pegasus-bb release pbbone --discard"


def changed(text: str | None) -> Happened:
    """The saved result has this text now, or is gone."""

    def happened(run: OneRun) -> None:
        run.saves()
        file = run.results / "out.txt"
        file.unlink()
        if text is not None:
            file.write_text(text)

    return happened


def may_go_on_from_a_checkpoint(run: OneRun) -> None:
    run.fails()
    (run.submit / "workflow.yml").write_text("uses: [{lfn: c, type: checkpoint}]\n")


def one_task_is_done(run: OneRun) -> None:
    run.note("work JOB_SUCCESS 0 cori - 3")
    run.ends(1)


def the_journal_alone_tells_that_a_job_had_it(run: OneRun) -> None:
    (run.folder() / "scratch").unlink()
    Path(run.bb.file("ready.json")).unlink()


def ready_json_alone_tells_that_a_job_had_it(run: OneRun) -> None:
    (run.folder() / "scratch").unlink()
    (run.submit / "jobstate.log").unlink()


def begun_elsewhere(run: OneRun) -> None:
    run.saves()
    run.locked_by("pid 4711 on host login3\n")


UNSAFE = "promised results are not safe"
KEPT: dict[Happened, str] = {
    lambda run: None: "out.txt: stage-out has not noted it in the manifest",
    changed(None): "No such file",
    changed("resulx"): "expected sha256",
    changed("short"): "has 5 bytes, expected 6",
    lambda run: run.promise({}): "promised no results: whether anybody needs what is",
    may_go_on_from_a_checkpoint: UNSAFE,
    one_task_is_done: UNSAFE,
    the_journal_alone_tells_that_a_job_had_it: UNSAFE,
    ready_json_alone_tells_that_a_job_had_it: UNSAFE,
    begun_elsewhere: "its run: cannot tell: begun on host login3",
}


@pytest.mark.parametrize("happened", KEPT, ids=lambda happened: happened.__name__)
def test_where_anything_could_be_lost_it_is_kept(
    submit_dirs: SubmitDirFixture, happened: Happened
) -> None:
    run = submit_dirs.dead()
    happened(run)
    is_kept(run, KEPT[happened])


@pytest.mark.parametrize("witness", ["rescue file", "file on it"])
def test_one_witness_that_a_job_had_it_is_enough(
    submit_dirs: SubmitDirFixture, witness: str
) -> None:
    run = submit_dirs.run()
    run.begins()
    if witness == "rescue file":
        run.ends(1)
        (run.submit / "w.dag.rescue001").write_text("DONE work\n")
    else:
        (run.folder() / "scratch").write_text("how did this get here?")
    is_kept(run, UNSAFE)


@pytest.mark.parametrize("file", ["placement.json", "reservation.json", "w.dag"])
def test_notes_that_cannot_be_read(submit_dirs: SubmitDirFixture, file: str) -> None:
    run = submit_dirs.dead()
    run.saves()
    path = run.submit / file if file == "w.dag" else Path(run.bb.file(file))
    path.write_text("JOB {")
    if file == "w.dag":  # the guard alone decides, the DAG is not needed
        assert run.verdict().goes
    else:
        is_kept(run, file)


# -- runs that may be alive


def test_an_engine_at_work(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.saves()
    handle = os.open(run.submit / ".engine.lock", os.O_CREAT | os.O_RDWR)
    os.write(handle, f"pid 4711 on host {socket.gethostname()}".encode())
    fcntl.flock(handle, fcntl.LOCK_EX)
    is_kept(run, "its run: running: pid 4711 on host ")
    os.close(handle)
    goes(run)


@pytest.mark.parametrize(
    ("host", "rows", "why"),
    [
        (HERE, ["32\t2\tundefined"], "its run: running: DAGMan, job 32"),
        (HERE, ["32\t5\tby a person"], "its run: running: DAGMan, job 32"),
        ("<1.2.3.4:1?alias=login3>", [], "submitted on host login3"),
        (HERE, None, "the schedd gives no answer"),
    ],
)
def test_a_dagman_that_works_or_may(
    submit_dirs: SubmitDirFixture,
    tools: Tools,
    host: str,
    rows: list[str] | None,
    why: str,
) -> None:
    run = submit_dirs.dead()
    run.saves()
    (run.submit / "w.dag.dagman.log").write_text(LOG.format(host))
    tools.queue(*(rows or []))
    if rows is None:
        tools.falls_silent()
    is_kept(run, why)


def test_a_dagman_that_vanished_with_its_jobs_in_the_queue(
    submit_dirs: SubmitDirFixture, tools: Tools
) -> None:
    run = submit_dirs.dead()
    run.saves()
    (run.submit / "w.dag.dagman.log").write_text(LOG.format(HERE))
    tools.jobs(41)
    is_kept(run, "DAGMan, job 32, is gone and left 1 of its jobs")
    tools.jobs()
    goes(run)


def test_a_run_that_began_since_it_was_looked_at(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.saves()
    verdict = run.verdict()
    assert verdict.goes
    handle = os.open(run.submit / ".engine.lock", os.O_CREAT | os.O_RDWR)
    os.write(handle, b"pid 4711 on host h")
    fcntl.flock(handle, fcntl.LOCK_EX)
    done = give_back(verdict)
    os.close(handle)
    assert (done.goes, done.exit_code) == (False, 2)
    assert "another pegasus-bb run works on this submit directory" in done.why
    assert run.folder().is_dir()


def test_a_task_that_was_seen_only_at_the_second_look(
    submit_dirs: SubmitDirFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submit_dirs.dead()
    run.saves()
    verdict = run.verdict()
    monkeypatch.setattr(module, "left_over", lambda path: {4711: "mark"})
    done = give_back(verdict)
    assert (done.goes, done.exit_code, "4711" in done.why) == (False, 2, True)
    assert run.folder().is_dir()


def test_a_result_that_was_lost_since_it_was_looked_at(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.dead()
    run.saves()
    verdict = run.verdict()
    (run.results / "out.txt").unlink()
    assert (verdict.goes, give_back(verdict).exit_code) == (True, 79)
    assert run.folder().is_dir()


def test_no_run_begins_while_it_is_given_back(
    submit_dirs: SubmitDirFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submit_dirs.dead()
    run.saves()
    held: list[str] = []

    def release(*_: object, dry_run: bool = False, **__: object) -> str:
        if not dry_run:
            held.append(run.held().run)
        return ""

    monkeypatch.setattr(module, "release", release)
    give_back(run.verdict())
    assert held == ["running"]


# -- whose it is


def test_rows_that_the_ledger_does_not_know(submit_dirs: SubmitDirFixture) -> None:
    submit_dirs.dead().saves()
    by_hand = submit_dirs.run("pbbhand")
    Directory(by_hand.request.settings).create(by_hand.request)
    said = gc("--yes").output
    assert "GIVEN BACK  pbbone" in said
    assert "KEPT        pbbhand" in said and "it is left alone" in said
    assert by_hand.folder().is_dir()


def test_one_of_another_run_under_the_same_name(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.saves()
    shutil.rmtree(run.folder())
    other = submit_dirs.run("pbbother").request
    stolen = Directory(run.request.settings)
    stolen.create(
        other.from_json({**other.to_json(), "name": run.name, "uuid": "another-run"})
    )
    is_kept(run, "another-run")


def test_a_tier_that_gives_no_answer(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    run.saves()
    run.tier_of_all.rename(submit_dirs.root / "unmounted")
    run.tier_of_all.mkdir()
    done = gc("--yes")
    assert "KEPT" in done.output and "is it mounted" in done.output
    assert run.held().ended == ""


# -- what is said


def test_why_one_is_kept_is_said_line_by_line(submit_dirs: SubmitDirFixture) -> None:
    run = submit_dirs.dead()
    first, *more, count = gc().output.splitlines()
    assert first.startswith(f"KEPT        {run.name} (")
    assert first.endswith("promised results are not safe")
    assert all(line.startswith(" " * 12) for line in more)
    assert f"discard: pegasus-bb release {run.name} --discard" in more[-1]
    assert count == "0 would be given back, 1 would be kept"


def test_one_that_stays_is_an_error_and_the_others_go(
    submit_dirs: SubmitDirFixture,
) -> None:
    stays = submit_dirs.dead("pbbstays", fail="delete: dwsd is busy")
    stays.saves()
    run = submit_dirs.dead()
    run.saves()
    done = gc("--yes")
    assert done.exit_code == 76
    assert "KEPT        pbbstays (100.0 MiB, directory): " in done.output
    assert "dwsd is busy" in done.output
    assert done.output.endswith("1 given back, 1 kept\n")
    assert [h.name for h in list_reservations()] == ["pbbstays"]


def test_as_json(submit_dirs: SubmitDirFixture) -> None:
    submit_dirs.dead()
    submit_dirs.dead("pbbsafe").saves()
    keeps, safe = json.loads(gc("--json").output)
    assert (keeps["name"], keeps["goes"], safe["goes"]) == ("pbbone", False, True)
    assert keeps["reservation"]["run"] == "dead: nobody works on it"
    [_, done] = json.loads(gc("--json", "--yes").output)
    assert (done["name"], done["goes"], done["exit_code"]) == ("pbbsafe", True, 0)
    assert [one.record.name for one in leftovers()] == ["pbbone"]


# -- by hand


def test_by_hand_too_what_no_job_ever_had_needs_no_discard(
    submit_dirs: SubmitDirFixture,
) -> None:
    run = submit_dirs.run()
    run.begins()
    run.waits()
    done = CliRunner().invoke(release_command, [run.name], catch_exceptions=False)
    assert "was given back" in done.output
    assert ledger.find(run.name)[0]["event"] == "released"
