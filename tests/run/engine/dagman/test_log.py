"""What HTCondor's log says of DAGMan itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import SchedulerUnreachable, UsageError
from pegasus_bb.run.engine.dagman.find import (
    DAGManLife,
    LifeLog,
    check_no_dagman,
    log_of,
)
from pegasus_bb.run.engine.submitdir import SubmitDir
from tests.run.engine.dagman.conftest import RECORDED, Tools


def lives(act: str, folder: Path) -> list[list[DAGManLife]]:
    """What is read while the log grows event by event, repetitions left out. (For half
    an event HTCondor's reader waits a second.)"""
    log = LifeLog(folder / "log")
    grown = [[]]
    *events, _ = (RECORDED / f"{act}.dagman.log").read_text().split("...\n")
    with (folder / "log").open("w") as out:
        for event in events:
            out.write(f"{event}...\n")
            out.flush()
            found = list(log.read().values())
            if found != grown[-1]:
                grown.append(found)
    return grown


def test_a_dagman_that_was_held_and_killed_was_not_over(tmp_path: Path) -> None:
    """The second one was submitted by hand while the first was alive."""
    seen = lives("held-and-killed", tmp_path)
    states = [[(one.cluster, one.state) for one in found] for found in seen]
    assert states == [
        [],
        [(38, "idle")],
        [(38, "running")],
        [(38, "held")],
        [(38, "running")],
        [(38, "running"), (44, "idle")],
        [(38, "running"), (44, "running")],
        [(38, "running"), (44, "ended")],
        [(44, "ended"), (38, "ended")],
    ]
    assert seen[3][0].reason == "via condor_hold (by user wfuser)"


def test_an_event_that_a_full_disk_has_torn_is_left_out(tmp_path: Path) -> None:
    """With the one behind it. A job of which no end is read is asked for in the
    queue."""
    whole = (RECORDED / "failed.dagman.log").read_text()
    submitted, executes, ended, _ = whole.split("...\n")
    path = tmp_path / "log"
    torn = executes[: len(executes) // 2]
    path.write_text(f"{submitted}...\n{torn}{ended}...\n")
    (life,) = LifeLog(path).read().values()
    assert not life.over
    with path.open("a") as log:
        log.write(f"{ended}...\n")
    (life,) = LifeLog(path).read().values()
    assert (life.state, life.status) == ("ended", 1)


def test_a_dagman_whose_beginning_was_torn_may_be_on_another_host(
    place: SubmitDir, tools: Tools
) -> None:
    whole = (RECORDED / "failed.dagman.log").read_text()
    submitted, executes, *_ = whole.split("...\n")
    log_of(place).write_text(f"{submitted[:40]}{submitted}...\n{executes}...\n")
    with pytest.raises(SchedulerUnreachable, match="on which host it was submitted"):
        check_no_dagman(place)


def test_a_log_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The name of a folder need not be text, and HTCondor writes it as it is."""
    whole = (RECORDED / "failed.dagman.log").read_bytes()
    (tmp_path / "log").write_bytes(whole.replace(b"alias=testbed", b"alias=\xff"))
    with pytest.raises(UsageError, match="log: what became of DAGMan cannot be read"):
        LifeLog(tmp_path / "log").read()
