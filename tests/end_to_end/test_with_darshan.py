"""A run whose tasks preload a real Darshan runtime: PEGASUS_BB_TEST_DARSHAN names a
libdarshan.so that was built without MPI, or one is found as --bb-darshan auto finds it.
"""

from __future__ import annotations

import os

import pytest

from pegasus_bb.model.run import Kind
from pegasus_bb.model.settings import Properties, Setting
from pegasus_bb.planner.node_programs import check_darshan
from pegasus_bb.report.learn import history_of
from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site

NAMED = os.environ.get("PEGASUS_BB_TEST_DARSHAN", "auto")
RUNTIME = check_darshan(
    Properties({"pegasus.bb.darshan": Setting(NAMED, "environment")}), NAMED
)


@pytest.mark.skipif(not RUNTIME, reason="no Darshan runtime (libdarshan.so)")
@pytest.mark.parametrize("mode", ["off", "persistent"])
def test_the_calls_of_every_task_are_counted(site: Site, mode: str) -> None:
    folder = site.planned("logged", "--bb-mode", mode, "--bb-darshan", RUNTIME)
    site.finishes("logged")
    run = read_run(folder)
    assert run.problems == ()
    for task in run.tasks:
        if task.kind is Kind.COMPUTE:
            assert task.calls is not None and task.calls.metadata
        else:
            assert task.calls is None  # our own programs are not counted
    learned = history_of(run)
    assert all(past.metadata for past in learned.jobs.values())
