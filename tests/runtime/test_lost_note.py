"""Giving back where reservation.json is lost: found again, and guarded as ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.lifecycle import UUID, Run, kept, with_data, words

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    return with_data(tmp_path)


def test_without_its_note_it_is_found_and_given_back(
    run: Run, capsys: Captured
) -> None:
    run.stage_out("one.txt")
    Path(run.bb.file("reservation.json")).unlink()
    assert run.delete() == 0
    assert "was given back" in words(capsys)
    assert not run.folder().exists()
    assert run.noted().released_at is not None


def test_without_its_note_results_are_guarded_as_ever(run: Run) -> None:
    asked = run.noted().requested_at
    run.promise({"one.txt": "/out/one.txt"})
    Path(run.bb.file("reservation.json")).unlink()
    assert run.delete() == 79
    assert kept(run)
    assert run.noted().requested_at == asked, "noted again as it was"


def test_without_its_note_what_is_gone_does_not_make_results_safe(run: Run) -> None:
    run.promise({"one.txt": "/out/one.txt"})
    run.vanish()
    Path(run.bb.file("reservation.json")).unlink()
    assert run.delete() == 79


def test_without_its_note_another_run_s_is_kept(run: Run, capsys: Captured) -> None:
    run.write("request.json", {**run.request.to_json(), "uuid": "another-run"})
    Path(run.bb.file("reservation.json")).unlink()
    assert run.delete() == 76
    assert f"belongs to run {UUID}" in words(capsys)
    assert kept(run)


def test_setup_without_its_note_finds_what_is_there(run: Run, capsys: Captured) -> None:
    asked = run.noted().requested_at
    Path(run.bb.file("reservation.json")).unlink()
    assert run.setup() == 0
    assert "this run's already" in words(capsys)
    assert run.noted().requested_at == asked


@pytest.mark.parametrize("missing", ["plan.json", "placement.json"])
def test_a_plan_that_was_killed_is_no_success(
    tmp_path: Path, capsys: Captured, missing: str
) -> None:
    run = Run(tmp_path / "fresh")
    run.write("plan.json", {"version": 2})
    (run.submit / "bb" / missing).unlink()
    assert run.delete() == 2
    said = words(capsys)
    assert missing in said and "plan again" in said
