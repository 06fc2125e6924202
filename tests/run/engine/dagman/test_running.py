"""Submitting, following, joining: HTCondor's tools play recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import (
    RunFailed,
    RunInterrupted,
    SchedulerUnreachable,
    UsageError,
)
from pegasus_bb.run.engine.dagman import running
from pegasus_bb.run.engine.local import run as run_locally
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.run.inventory.run_state import run_status
from tests.run.engine.dagman.conftest import RECORDED, Listener, Tools, write_log


def fails(place: SubmitDir, listener: Listener | None = None) -> str:
    with pytest.raises(RunFailed) as failed:
        running.run(place.path, progress=listener)
    return str(failed.value)


def test_a_failed_run_tells_why(place: SubmitDir, tools: Tools) -> None:
    listener = Listener()
    said = fails(place, listener)
    assert "not done: 2 of 6 nodes are done, 3 failed, 1 did not" in said
    assert "  C: its job ended with exit status 1" in said
    assert "rescue file: w.dag.rescue001" in said
    assert f"to continue: pegasus-bb run {place.path}" in said
    assert listener.heard[:2] == ["6 nodes, 0 done", "DAGMan runs it, as job 25"]
    assert tools.submitted == ["-update_submit w.dag"]


def test_condor_rm_stops_the_run(place: SubmitDir, tools: Tools) -> None:
    fails(place)
    tools.plays("removed")
    listener = Listener()
    with pytest.raises(RunInterrupted, match="job 32, was removed \\(via condor_rm"):
        running.run(place.path, progress=listener)
    assert listener.heard[0] == "6 nodes, 2 done"  # from DAGMan's rescue file
    assert not [words for words in listener.heard if words.startswith("A ")]


def test_a_live_dagman_is_joined_and_no_other_engine_starts(
    place: SubmitDir, tools: Tools
) -> None:
    write_log(place, "removed", 4)
    place.journal.write_text((RECORDED / "failed.jobstate.log").read_text())
    (place.path / "w.dag.rescue001").write_text("DONE A\nDONE E\n")
    tools.queue("2\tundefined")
    assert run_status(place).engine == "DAGMan, job 32"
    with pytest.raises(UsageError, match="DAGMan works on it as job 32"):
        run_locally(place.path)
    with pytest.raises(UsageError, match="DAGMan works on it as job 32"):
        running.run(place.path, restart=True)
    # It ends while we look on; of what an earlier one did nothing is told again.
    with place.journal.open("a") as journal:
        journal.write((RECORDED / "removed.jobstate.log").read_text())
    listener = Listener()

    class Ends(Listener):
        def begin(self, total: int, done: int) -> None:
            log = (RECORDED / "removed.dagman.log").read_text().splitlines(True)
            with (place.path / "w.dag.dagman.log").open("a") as out:
                out.writelines(log[4:])
            listener.begin(total, done)

        def ended(self, name: str, how: str, seconds: float) -> None:
            listener.ended(name, how, seconds)

    with pytest.raises(RunInterrupted):
        running.run(place.path, progress=Ends())
    assert listener.heard == ["6 nodes, 2 done", "D done after 2 s"]
    assert not tools.submitted


def test_without_an_answer_nothing_starts(place: SubmitDir, tools: Tools) -> None:
    write_log(place, "removed", 4)
    tools.falls_silent()
    for engine in (run_locally, running.run):
        with pytest.raises(SchedulerUnreachable, match="Failed to fetch ads"):
            engine(place.path)
    assert "perhaps" in run_status(place).engine


def test_on_another_host_the_queue_here_is_no_answer(
    place: SubmitDir, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(place, "removed", 4)
    monkeypatch.setattr("socket.gethostname", lambda: "login2")
    with pytest.raises(SchedulerUnreachable, match="submitted on host testbed"):
        run_locally(place.path)
    # Unless its schedd is the one that HTCondor's configuration names here.
    tools.program("condor_config_val", "#!/bin/sh\necho testbed.example.org\n")
    tools.queue("2\tundefined")
    with pytest.raises(UsageError, match="DAGMan works on it as job 32"):
        run_locally(place.path)


def test_a_dagman_that_its_log_forgot_is_found(place: SubmitDir, tools: Tools) -> None:
    write_log(place, "failed")
    tools.unlogged(7)
    for engine in (run_locally, running.run):
        with pytest.raises(UsageError, match="job 7, of which its log does not"):
            engine(place.path)
    assert not tools.submitted


def test_the_journal_of_a_lost_dagman_is_used(place: SubmitDir, tools: Tools) -> None:
    write_log(place, "failed", 4)  # its log tells of no end, the queue has no such job
    lines = (RECORDED / "failed.jobstate.log").read_text().splitlines(True)
    place.journal.write_text("".join(lines[:-1]))
    (place.path / "w.dag.lock").touch()
    tools.queue()
    tools.plays("removed")
    listener = Listener()
    with pytest.raises(RunInterrupted):
        running.run(place.path, progress=listener)
    assert listener.heard[0] == "6 nodes, 2 done"
    assert not (place.path / "w.dag.lock").exists()  # it would have won over the rescue
    assert "DONE A\n" in (place.path / "w.dag.rescue001").read_text()


def test_what_pegasus_planned_is_submitted_by_pegasus_run(
    place: SubmitDir, tools: Tools, tmp_path: Path
) -> None:
    home = tmp_path / "pegasus" / "bin"
    home.mkdir(parents=True)
    (place.path / "braindump.yml").write_text(
        f"planner: {home}/pegasus-plan\nbindir: {home}\nsubmit_dir: {place.path}\n"
    )
    with pytest.raises(UsageError, match="pegasus-run is neither in"):
        running.run(place.path)
    program = home / "pegasus-run"
    program.write_text('#!/bin/sh\nexec condor_submit_dag "by pegasus-run $@"\n')
    program.chmod(0o755)
    assert "3 failed" in fails(place)
    assert tools.submitted == [f"by pegasus-run {place.path}"]


DAGMAN_OUT = """\
11/21/26 16:33:25 ** condor_scheduniv_exec.9.0 (CONDOR_DAGMAN) STARTING UP
11/21/26 16:33:26 **** condor_scheduniv_exec.9.0 (condor_DAGMAN) pid 9 EXITING WITH \
STATUS {before}
11/21/26 16:33:32 ** condor_scheduniv_exec.2.0 (CONDOR_DAGMAN) STARTING UP
11/21/26 16:33:32 Warning: default node log file ./w.dag.nodes.log is in /tmp
11/21/26 16:33:32 ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting
11/21/26 16:33:32 Aborting DAG...
"""
EXITS = "11/21/26 16:33:32 **** x.2.0 (condor_DAGMAN) pid 1590 EXITING WITH STATUS {}\n"


def test_a_false_success_of_pegasus_dagman_is_reported(
    place: SubmitDir, tools: Tools
) -> None:
    """It ends with 0 where DAGMan ended with 1, or by a signal, and monitord with 0."""
    tools.plays("held-and-killed")
    log = place.path / "w.dag.dagman.out"
    log.write_text(DAGMAN_OUT.format(before=0))
    assert "DAGMan says: ERROR: Warning is fatal" in fails(place)
    log.write_text(DAGMAN_OUT.format(before=1) + EXITS.format(0))
    assert running.run(place.path).done == 6
