"""What a person is told while DAGMan writes its journal."""

from __future__ import annotations

from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.run.engine.dagman.replay import Replay
from pegasus_bb.run.engine.evidence import refused_submission
from pegasus_bb.run.engine.jobstate_log import parse_event, read_history
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.nodestates import done_before
from pegasus_bb.run.engine.submitdir import SubmitDir
from tests.run.engine.dagman.conftest import RECORDED, Listener


class Player:
    def __init__(self, place: SubmitDir, held: dict[int, str] | None = None) -> None:
        self.table, listener = NodeTable(read_dag(place.dag), ()), Listener()
        self.heard = listener.heard
        self.replay = Replay(self.table, place, listener, (held or {}).get)

    def plays(self, *lines: str) -> None:
        for line in lines:
            event = parse_event(line)
            assert event is not None
            self.replay.apply(event)


def recorded(act: str) -> list[str]:
    return (RECORDED / f"{act}.jobstate.log").read_text().splitlines(True)


def test_a_gate_waits_and_failures_tell_their_retries(place: SubmitDir) -> None:
    player = Player(place)
    player.plays(*recorded("failed"))
    heard = player.heard
    assert heard[:4] == ["A runs", "A waits", "A runs", "A done after 9 s"]
    assert "D failed: its PRE script exit.sh failed after 0 s" in heard
    post = "its POST script ended with exit status 1, its job with exit status 1"
    assert f"B failed, tried again: {post} after 2 s" in heard
    assert f"B failed: {post} after 1 s" in heard
    assert "C failed: its job ended with exit status 1 after 1 s" in heard
    assert heard[-1] == "E done after 9 s"
    assert player.table.names(NodeState.FAILED) == ["B", "C", "D"]
    assert player.table.names(NodeState.FUTILE) == ["F"]


# As HTCondor 23.9 wrote it, for `request_memory = foo(`.
REFUSED = """\
11/28/26 22:25:21 Submitting node B from file s.sub using direct job submission
11/28/26 22:25:22 ERROR: on Line 6 of submit file: failed to create job classad
11/28/26 22:25:22 submit error: Submit:-1:Parse error in expression:
\tRequestMemory = foo(
\t11/28/26 22:25:22 Job submit failed after 6 tries.
"""
SUBMITTED = """\
11/28/26 22:25:30 Submitting node B from file s.sub using direct job submission
11/28/26 22:25:30 \tassigned HTCondor ID (2.0.0)
"""
NEVER_SUBMITTED = ("SUBMIT_FAILURE -", "POST_SCRIPT_STARTED -", "POST_SCRIPT_FAILURE 1")


def test_a_job_that_condor_submit_refuses_is_told_with_its_words(
    place: SubmitDir,
) -> None:
    player = Player(place)
    log = place.dag.with_name("w.dag.dagman.out")
    log.write_text(SUBMITTED + REFUSED)
    player.plays(*(f"1795848455 B {end} cluster - 5\n" for end in NEVER_SUBMITTED))
    assert player.heard[-1] == (
        "B failed, tried again: HTCondor does not take its submit file: ERROR: on Line "
        "6 of submit file: failed to create job classad submit error: Submit:-1:Parse "
        "error in expression: RequestMemory = foo( after 0 s"
    )
    log.write_text(REFUSED + SUBMITTED + REFUSED.replace("node B", "node C"))
    assert refused_submission(player.table.items["B"].node, place) == ""


def test_being_held_and_killed_was_no_end(place: SubmitDir) -> None:
    lines = recorded("held-and-killed")
    killed = lines.index("1795270080 INTERNAL *** DAGMAN_STARTED 44.0 ***\n")
    place.journal.write_text("".join(lines[:killed]))
    history = read_history(place.journal)
    assert history.crashed
    assert history.since == 0
    # As a rescue file of an earlier run would say, which knew of A alone.
    place.next_rescue().write_text("DONE A\n")
    assert done_before(place, read_dag(place.dag), history) == {"A", "D", "E"}
