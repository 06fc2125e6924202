"""A tier whose folder is away for a while: an empty place says nothing about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb import ledger
from pegasus_bb.model.reservation import State
from pegasus_bb.reservation.directory import Directory
from pegasus_bb.runtime import ours
from tests.reservation.contract import OTHER_RUN
from tests.runtime.lifecycle import NAME, Run, words

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A run with data on its reservation, whose tier is then unmounted."""
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    found = Run(tmp_path)
    assert (found.setup(), found.gate()) == (0, 0)
    (found.folder() / "data").write_text("only here")
    found.tier.rename(found.root / "away")
    found.tier.mkdir()
    yield found
    for path in found.tier.iterdir():
        path.unlink() if path.is_file() else (path / ".pegasus_bb").unlink()
    for path in found.tier.iterdir():
        path.rmdir()
    found.tier.rmdir()
    (found.root / "away").rename(found.tier)
    assert (found.folder() / "data").exists()
    assert found.delete() == 0, "mounted again, it is given back as ever"
    assert not found.folder().exists()


def test_it_is_not_called_given_back(run: Run, capsys: Captured) -> None:
    assert run.delete() == 78
    said = words(capsys)
    assert "is it mounted?" in said and str(run.tier / ".pegasus_bb_root") in said
    assert run.noted().released_at is None
    assert [e["event"] for e in ledger.find(NAME)] == ["requested"]


def test_nor_where_another_run_uses_the_empty_place(run: Run) -> None:
    Directory(run.request.settings).create(OTHER_RUN.__class__(
        **{**OTHER_RUN.to_json(), "name": "pbbother", "capacity": 4096}
    ))  # fmt: skip
    assert run.delete() == 78
    assert run.noted().released_at is None


def test_the_gate_does_not_call_it_gone(run: Run, capsys: Captured) -> None:
    assert run.gate() == 75
    assert "is it mounted?" in words(capsys)


def test_setup_does_not_ask_again(run: Run) -> None:
    assert run.setup() == 78
    assert not run.folder().exists()


def test_one_that_still_waited_is_not_forgotten_either(run: Run) -> None:
    (run.submit / "bb" / "ready.json").unlink()
    assert run.delete() == 78


def test_a_tier_that_nobody_used_yet_says_absent(tmp_path: Path) -> None:
    run = Run(tmp_path)
    found = ours.status(run.bb, run.backend(), run.request, None)
    assert found.state is State.ABSENT


def test_where_it_was_emptied_for_good_the_words_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    run = Run(tmp_path)
    assert (run.setup(), run.gate()) == (0, 0)
    known = (run.tier / ".pegasus_bb_root").read_text().strip()
    run.vanish()
    (run.tier / ".pegasus_bb_root").unlink()
    assert run.delete() == 78
    assert f"write {known} to {run.tier}/.pegasus_bb_root" in words(capsys)
    (run.tier / ".pegasus_bb_root").write_text(known + "\n")
    assert run.delete() == 0
    assert "not there" in words(capsys)
