"""The gate settles once whether a run goes on on the PFS; all programs follow it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core import ledger
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.bind import shared_binding
from pegasus_bb.runtime.programs import gate
from pegasus_bb.runtime.programs.gate import USE
from pegasus_bb.runtime.storage_decision import (
    DECISION_FILE,
    StorageDecision,
    decide_storage,
)
from tests.support import forked
from tests.support.run_programs import DIRECTIVE, NAME, Run


@pytest.fixture
def run(run: Run) -> Run:
    run.request = run.request._replace(fallback="pfs")
    run.change()
    run.place()
    (run.submit / "bb" / USE).write_text(DIRECTIVE)
    return run


def where(run: Run) -> str:
    return str(run.read(DECISION_FILE)["to"]) if run.has(DECISION_FILE) else ""


def job(run: Run) -> str:
    binding = shared_binding(run.bb, dict(os.environ))
    assert binding is not None
    return binding.real


# -- settled on the PFS


def test_what_is_settled_holds_though_the_buffer_comes_up(run: Run) -> None:
    run.change(fail="create*1: no such project")
    run.opens_its_gate()
    before = run.read(DECISION_FILE)
    assert (run.setup(), run.gate()) == (0, 0)  # a rescue run
    assert run.read(DECISION_FILE) == before
    assert not run.stands
    assert ledger.reservations()[0].time == ledger.entries()[0]["time"]
    assert [line["event"] for line in ledger.entries()] == ["requested"]


def test_two_gates_at_once_agree(run: Run) -> None:
    run.change(fail="create: no such project")
    run.setup()
    forked.install_programs(Path(run.bb.path))
    gates = [subprocess.Popen([f"{run.bb.path}/bin/gate"]) for _ in range(6)]
    assert [gate.wait(120) for gate in gates] == [0] * 6
    assert where(run) == "pfs"
    assert list((run.submit / "bb").glob(".*part")) == []


# -- settled on the reservation


def test_a_job_that_comes_after_the_gate_s_word_follows_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look at the same time, and the gate is the faster one."""
    run.setup()
    real = FolderBackend.path

    def meanwhile(self: FolderBackend, *arguments: Any) -> str:
        decide_storage(run.bb, StorageDecision("pfs", "late", 77, "/lus/scratch"))
        return real(self, *arguments)

    monkeypatch.setattr(FolderBackend, "path", meanwhile)
    assert job(run) == "/lus/scratch"


def test_a_gate_that_comes_after_the_first_job_follows_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.setup()
    real = gate.pfs_prefix

    def meanwhile(placement: Any) -> str:
        decide_storage(run.bb, StorageDecision("bb"))
        return real(placement)

    monkeypatch.setattr(gate, "pfs_prefix", meanwhile)
    run.change(fail="status: held")
    assert run.gate() == 76
    assert where(run) == "bb"
    assert (run.submit / "bb" / USE).read_text() == DIRECTIVE


@pytest.mark.parametrize("text", ["", '{"to": "x"}', '{"to": "pfs"}'])
def test_a_damaged_note_stops_everything(run: Run, text: str) -> None:
    run.setup()
    (run.submit / "bb" / DECISION_FILE).write_text(text)
    for program in (run.setup, run.gate, run.delete):
        assert program() == 2
        assert DECISION_FILE in run.said
    assert run.stands


@pytest.mark.parametrize(
    "wrong",
    [
        {"pfs_scratch": "/lus/other/run0002"},
        {"pfs_scratch": "/me/run0001"},
        {"pfs_scratch": ""},
        {"scratch": f"/bb/{NAME}"},
        {"scratch": "/elsewhere/me/run0001"},
    ],
    ids=str,
)
def test_folders_that_do_not_match_are_no_place_to_go(
    run: Run, wrong: dict[str, str]
) -> None:
    run.change(fail="create: no such project")
    run.place(**wrong)
    run.setup()
    assert run.gate() == 2
    assert where(run) == ""


# -- giving back


def test_bb_delete_still_looks_after_the_results(run: Run) -> None:
    run.change(fail="create: no such project")
    run.opens_its_gate()
    run.place(outputs={"one.txt": str(run.results / "one.txt")})
    assert run.delete() == 79
    assert "1 of 1 promised results are not safe; this run is on the PFS" in run.said
    assert f"the files that remain are in {run.root}/pfs/me/run0001" in run.said
    run.stage_out("one.txt")
    run.place(outputs={"one.txt": str(run.results / "one.txt")})
    assert run.delete() == 0
    assert ledger.reservations()[0].end == "refused"
    assert run.noted().released_at is None  # there never was any


def test_what_is_another_run_s_stays(run: Run) -> None:
    other = run.request._replace(uuid="other-run", settings={})
    FolderBackend(run.request.settings).create(other)
    run.opens_its_gate()
    assert where(run) == "pfs"
    assert run.delete() == 0
    identity = json.loads((run.folder() / ".pegasus_bb").read_text())
    assert identity["uuid"] == "other-run"
    assert FolderBackend(run.request.settings).status(other).state is not State.ABSENT
