"""pegasus-bb gc: what dead runs have left goes back, and nothing else ever does."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli.gc import command
from pegasus_bb.cli.status import command as status
from pegasus_bb.core.files import ENGINE_LOCK
from pegasus_bb.run.inventory import leftovers as module
from pegasus_bb.run.inventory.leftovers import give_back
from pegasus_bb.run.inventory.listing import list_reservations
from tests.run.engine.dagman.conftest import Tools, tools
from tests.run.inventory.conftest import OneRun, Runs

__all__ = ["tools"]
Happened = Callable[[OneRun], object]
Since = Callable[[OneRun], AbstractContextManager[object]]


def gc(*options: str) -> Result:
    return CliRunner().invoke(command, list(options), catch_exceptions=False)


def status_of(run: OneRun) -> str:
    words = [str(run.submit)]
    return CliRunner().invoke(status, words, catch_exceptions=False).output


def is_kept(run: OneRun, why: str) -> None:
    for options in ((), ("--yes",)):
        done = gc(*options)
        assert why in done.output, done.output
        assert f"KEPT        {run.name} (" in done.output
        assert done.exit_code == 0
    assert run.folder().is_dir()
    assert run.held().ended == ""


def goes(run: OneRun) -> None:
    before = sorted(run.folder().iterdir())
    assert f"WOULD GO    {run.name} (" in gc().output
    assert sorted(run.folder().iterdir()) == before
    assert run.held().ended == ""
    done = gc("--yes")
    assert f"GIVEN BACK  {run.name} (100.0 MiB, directory): " in done.output
    assert (done.exit_code, run.folder().exists()) == (0, False)
    assert (run.held().ended, run.noted().released_at is not None) == ("released", True)
    assert list_reservations() == []


def ended_well_and_promised_nothing(run: OneRun) -> None:
    run.promise({})
    run.ends(0)


@pytest.mark.parametrize("happened", [OneRun.saves, ended_well_and_promised_nothing])
def test_gc_releases_a_reservation_of_which_nothing_can_be_lost(
    run: OneRun, happened: Happened
) -> None:
    happened(run)
    goes(run)


@pytest.mark.parametrize("gate_waits", [True, False])
def test_gc_releases_what_no_job_ever_had(runs: Runs, gate_waits: bool) -> None:
    run = runs.run()
    run.begins()
    if gate_waits:
        run.waits()
    goes(run)


def test_a_run_whose_reservation_no_job_had_goes_on_after_it_was_given_back(
    runs: Runs,
) -> None:
    run = runs.run()
    run.begins()
    run.note("bb_setup_1 JOB_SUCCESS 0 local - 1")
    run.waits()
    run.note("create_dir_w_0_cori PRE_SCRIPT_FAILURE 76 cori - 2")
    run.ends(1)
    goes(run)
    said = status_of(run)
    assert "to continue: pegasus-bb run" in said
    assert "--restart" not in said


def test_the_status_of_a_run_says_that_its_reservation_was_taken_away(
    runs: Runs,
) -> None:
    run = runs.run()
    run.begins()
    run.works()
    run.ends(1)  # DAGMan was removed, and no node has failed
    run.vanish()
    said = status_of(run)
    assert "is not there any more, nor what lived only there" in said
    assert "start over:  pegasus-bb run --restart" in said
    assert "continues it" not in said


def test_a_run_that_has_saved_all_loses_nothing_with_its_reservation(
    saved: OneRun,
) -> None:
    """A gc that was killed had given it back, and could not say so."""
    saved.note("create_dir_w_0_cori JOB_SUCCESS 0 cori - 2", "work JOB_SUCCESS 0 c - 3")
    saved.note("bb_setup_1 JOB_SUCCESS 0 local - 1", "bb_delete_1 JOB_FAILURE 1 l - 4")
    saved.ends(1)
    saved.vanish()
    said = status_of(saved)
    assert "lost" not in said
    assert "to continue: pegasus-bb run" in said


def test_another_user_sees_the_reservation_as_it_is(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.run(owner="wfuser")
    run.begins()
    run.works()
    run.change(owner="operator")
    assert "belongs to wfuser, not to operator" in status_of(run)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    said = status_of(run)
    assert "(directory): ready" in said
    assert "belongs to" not in said


def test_a_request_that_was_refused_is_taken_off_the_list(runs: Runs) -> None:
    run = runs.run(fail="create*1: no such pool")
    run.note("INTERNAL *** DAGMAN_STARTED 1 ***")
    assert run.setup() == 76
    run.ends(1)
    assert "never made" in gc("--yes").output
    assert run.held().ended == "refused"
    assert list_reservations() == []


# -- unsaved results


def test_a_failed_run_that_left_a_promised_result(run: OneRun) -> None:
    run.write("placement.json", {**run.bb.placement(), "scratch": "/bb/pbbone/run"})
    (run.folder() / "run").mkdir()
    (run.folder() / "run" / "out.txt").touch()
    run.fails()
    is_kept(run, f"{run.folder()}/run/out.txt")
    assert run.held().next[-1] == "pegasus-bb release pbbone --discard"


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
    (run.submit / ENGINE_LOCK).write_text("pid 4711 on host login3\n")


UNSAFE = "promised results are not safe"
KEPT: dict[Happened, str] = {
    lambda run: None: "out.txt: no stage-out has noted that it is whole",
    lambda run: run.promise({}): "promised no results: whether what is on it is still",
    may_go_on_from_a_checkpoint: UNSAFE,
    one_task_is_done: UNSAFE,
    the_journal_alone_tells_that_a_job_had_it: UNSAFE,
    ready_json_alone_tells_that_a_job_had_it: UNSAFE,
    begun_elsewhere: "its run: cannot tell: begun on host login3",
}


@pytest.mark.parametrize("happened", KEPT, ids=lambda happened: happened.__name__)
def test_gc_keeps_a_reservation_where_anything_may_be_lost(
    run: OneRun, happened: Happened
) -> None:
    happened(run)
    is_kept(run, KEPT[happened])


@pytest.mark.parametrize("witness", ["rescue file", "file on it"])
def test_one_witness_that_a_job_had_it_is_enough(runs: Runs, witness: str) -> None:
    run = runs.run()
    run.begins()
    if witness == "rescue file":
        run.ends(1)
        (run.submit / "w.dag.rescue001").write_text("DONE work\n")
    else:
        (run.folder() / "scratch").write_text("how did this get here?")
    is_kept(run, UNSAFE)


@pytest.mark.parametrize("file", ["placement.json", "reservation.json", "w.dag"])
def test_gc_keeps_a_run_whose_notes_cannot_be_read(saved: OneRun, file: str) -> None:
    path = saved.submit / file if file == "w.dag" else Path(saved.bb.file(file))
    path.write_text("JOB {")
    if file == "w.dag":  # the guard alone decides, the DAG is not needed
        assert saved.verdict().goes
    else:
        is_kept(saved, file)


# -- runs that may be alive


def test_gc_keeps_what_a_working_engine_uses(saved: OneRun) -> None:
    with saved.at_work():
        is_kept(saved, "its run: running: pid ")
    goes(saved)


@pytest.mark.parametrize(
    ("host", "rows", "why"),
    [
        ("testbed", ["32\t2\tundefined"], "its run: running: DAGMan, job 32"),
        ("testbed", ["32\t5\tby a person"], "its run: running: DAGMan, job 32"),
        ("login3", [], "submitted on host login3"),
        ("testbed", None, "the schedd gives no answer"),
    ],
)
def test_gc_keeps_what_a_dagman_may_use(
    saved: OneRun, tools: Tools, host: str, rows: list[str] | None, why: str
) -> None:
    saved.submitted_from(host)
    tools.queue(*(rows or []))
    if rows is None:
        tools.falls_silent()
    is_kept(saved, why)


def has_a_task(_: OneRun) -> AbstractContextManager[object]:
    return patch.object(module, "left_over", lambda path: {4711: "mark"})


def loses_its_result(run: OneRun) -> AbstractContextManager[object]:
    return nullcontext((run.results / "out.txt").unlink())


@pytest.mark.parametrize(
    ("since", "code", "why"),
    [
        (OneRun.at_work, 2, "another pegasus-bb run works on this submit directory"),
        (has_a_task, 2, "4711"),
        (loses_its_result, 79, "out.txt"),
    ],
)
def test_what_happens_since_it_was_looked_at_keeps_it(
    saved: OneRun, since: Since, code: int, why: str
) -> None:
    verdict = saved.verdict()
    assert verdict.goes
    with since(saved):
        done = give_back(verdict)
    assert (done.goes, done.exit_code, why in done.why) == (False, code, True)
    assert saved.folder().is_dir()


def test_no_run_begins_while_it_goes(
    saved: OneRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[str] = []

    def release(*_: object, dry_run: bool = False, **__: object) -> str:
        if not dry_run:
            held.append(saved.held().run)
        return ""

    monkeypatch.setattr(module, "release", release)
    give_back(saved.verdict())
    assert held == ["running"]


def test_rows_that_the_ledger_does_not_know(runs: Runs) -> None:
    runs.dead().saves()
    by_hand = runs.run("pbbhand")
    by_hand.backend().create(by_hand.request)
    output = gc("--yes").output
    assert "GIVEN BACK  pbbone" in output
    assert "KEPT        pbbhand" in output and "it is left alone" in output
    assert by_hand.folder().is_dir()
