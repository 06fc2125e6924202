"""Which engine it is."""

from __future__ import annotations

import os

import pytest
from pytest import MonkeyPatch

from pegasus_bb.cli.run import choose_engine
from pegasus_bb.core.errors import RunFailed, UsageError
from pegasus_bb.core.files import write_json
from pegasus_bb.run.engine.dagman import running
from pegasus_bb.run.engine.submitdir import SubmitDir
from tests.run.engine.dagman.conftest import Tools
from tests.support.as_root import as_root
from tests.support.backend_contract import REQUEST


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
        monkeypatch.setattr("pegasus_bb.cli.run._check_user", lambda _: None)
    assert choose_engine(place, "auto") == ("local", why)


def test_a_buffer_that_only_jobs_see_is_no_place_for_the_local_engine(
    place: SubmitDir, tools: Tools
) -> None:
    with pytest.raises(RunFailed):
        running.run(place.path)
    (place.path / "bb").mkdir()
    request = REQUEST._replace(backend="datawarp")
    write_json(str(place.path / "bb/request.json"), request.to_json())
    assert "only jobs of Slurm see its buffer" in choose_engine(place, "local").why
    tools.falls_silent()
    for restart in (False, True):
        with pytest.raises(UsageError, match=r"HTCondor takes jobs.* no schedd ans"):
            choose_engine(place, "auto", restart=restart)


@as_root
def test_root_does_not_run_what_another_user_has_planned(place: SubmitDir) -> None:
    os.chown(place.path, 4711, -1)
    with pytest.raises(UsageError, match=r"run of user 4711.* as that user: pegasus"):
        choose_engine(place, "local")


def test_what_dagman_began_is_not_taken_over(place: SubmitDir, tools: Tools) -> None:
    with pytest.raises(RunFailed):
        running.run(place.path)
    assert choose_engine(place, "auto") == ("dagman", "it began this run")
    tools.falls_silent()
    with pytest.raises(UsageError, match="begun under DAGMan, and here no schedd"):
        choose_engine(place, "auto")
