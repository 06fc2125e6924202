"""Of a reservation that was never made nothing has to be given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.lifecycle import Run, words

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """bb_setup asked and was refused; results are promised all the same."""
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    run = Run(tmp_path, fail="create*1: no such pool")
    run.promise({"one.txt": "/out/one.txt"})
    assert run.setup() == 76
    return run


def test_of_what_was_refused_nothing_is_there_to_give_back(
    refused: Run, capsys: Captured
) -> None:
    words(capsys)
    assert refused.delete() == 0
    assert "never made, so there is nothing to give back" in words(capsys)
    assert refused.setup() == 0  # it may still be asked for


def test_where_anything_contradicts_the_refusal_it_is_kept(refused: Run) -> None:
    refused.backend().create(refused.request)
    assert refused.delete() == 79
    assert refused.folder().is_dir()


@pytest.mark.parametrize("witness", ["ready.json", "manifest.jsonl"])
def test_a_refusal_after_work_was_done_keeps_all(refused: Run, witness: str) -> None:
    if witness == "ready.json":
        refused.write(witness, {"requested_at": 1.0})
    else:
        refused.stage_out("two.txt")
    assert refused.delete() == 79
