"""Which engine it is."""

from __future__ import annotations

import os

import pytest
from pytest import MonkeyPatch

from pegasus_bb.cli.run import choose_engine
from pegasus_bb.core.errors import RunFailed, UsageError
from pegasus_bb.run.engine.dagman import running
from pegasus_bb.run.engine.submitdir import SubmitDir
from tests.run.engine.dagman.conftest import Tools


def test_dagman_where_a_schedd_takes_jobs(place: SubmitDir, tools: Tools) -> None:
    assert choose_engine(place, "auto") == ("dagman", "a schedd takes jobs here")
    assert choose_engine(place, "local") == ("local", "--engine")


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("no HTCondor", "condor_submit_dag is not on PATH"),
        ("no answer", "no schedd answers (Failed to fetch ads)"),
        ("root", "HTCondor takes no jobs of root"),
    ],
)
def test_the_local_engine_where_nothing_can_be_submitted(
    place: SubmitDir, tools: Tools, monkeypatch: MonkeyPatch, broken: str, why: str
) -> None:
    if broken == "no HTCondor":
        (tools.folder / "condor_submit_dag").unlink()
    elif broken == "no answer":
        tools.falls_silent()
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert choose_engine(place, "auto") == ("local", why)


def test_what_dagman_began_is_not_taken_over(place: SubmitDir, tools: Tools) -> None:
    with pytest.raises(RunFailed):
        running.run(place.path)
    assert choose_engine(place, "auto") == ("dagman", "it began this run")
    tools.falls_silent()
    with pytest.raises(UsageError, match="begun under DAGMan, and here no schedd"):
        choose_engine(place, "auto")
