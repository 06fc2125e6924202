"""Which engine it is."""

from __future__ import annotations

import os

import pytest

from pegasus_bb.engine.choice import choose_engine
from pegasus_bb.engine.dagman import running
from pegasus_bb.engine.processes import Processes
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.errors import RunFailed, SchedulerUnreachable, UsageError
from tests.engine.dagman.conftest import Tools, write_log


def test_dagman_where_a_schedd_takes_jobs(place: SubmitDir, tools: Tools) -> None:
    assert choose_engine(place, "auto") == ("dagman", "a schedd takes jobs here")
    assert choose_engine(place, "local") == ("local", "--engine")


def test_the_local_engine_where_there_is_no_htcondor(
    place: SubmitDir, tools: Tools
) -> None:
    (tools.folder / "condor_submit_dag").unlink()
    why = "condor_submit_dag is not on PATH"
    assert choose_engine(place, "auto") == ("local", why)


def test_the_local_engine_where_no_schedd_answers(
    place: SubmitDir, tools: Tools
) -> None:
    tools.falls_silent()
    why = "no schedd answers (Failed to fetch ads)"
    assert choose_engine(place, "auto") == ("local", why)


def test_root_may_not_submit(
    place: SubmitDir, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert choose_engine(place, "auto").engine == "local"


def test_what_the_local_engine_has_begun_it_goes_on_with(
    place: SubmitDir, tools: Tools
) -> None:
    Processes(place.processes).close()
    assert choose_engine(place, "auto").engine == "local"
    assert choose_engine(place, "auto", restart=True).engine == "dagman"


def test_what_dagman_has_begun_is_not_silently_taken_over(
    place: SubmitDir, tools: Tools
) -> None:
    with pytest.raises(RunFailed):
        running.run(place.path)
    assert choose_engine(place, "auto") == ("dagman", "it has begun it")
    tools.falls_silent()
    with pytest.raises(UsageError, match="begun under DAGMan, and here no schedd"):
        choose_engine(place, "auto")


def test_one_that_lives_is_joined(place: SubmitDir, tools: Tools) -> None:
    write_log(place, "removed", 4)
    tools.queue("2\tundefined")
    why = "it works on it already, as job 32"
    assert choose_engine(place, "auto") == ("dagman", why)
    tools.falls_silent()
    with pytest.raises(SchedulerUnreachable):
        choose_engine(place, "auto")
