"""The ledger lists every reservation that this user ever asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb import ledger


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "state" / "ledger.jsonl"
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(path))
    return path


def test_it_lies_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PEGASUS_BB_LEDGER", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/wfuser")
    assert ledger.path() == "/home/wfuser/.local/state/pegasus-bb/ledger.jsonl"
    monkeypatch.setenv("XDG_STATE_HOME", "/scratch/state")
    assert ledger.path() == "/scratch/state/pegasus-bb/ledger.jsonl"


def test_lines_come_back_in_their_order(journal: Path) -> None:
    assert ledger.entries() == []
    ledger.note("requested", name="one", size=1)
    ledger.note("requested", name="two", size=2)
    ledger.note("released", name="one", size=1)
    assert [(e["event"], e["name"]) for e in ledger.entries()] == [
        ("requested", "one"),
        ("requested", "two"),
        ("released", "one"),
    ]
    assert all(e["time"] > 1e9 for e in ledger.entries())


def test_a_reservation_is_found_by_its_whole_name_newest_line_first(
    journal: Path,
) -> None:
    ledger.note("requested", name="one")
    ledger.note("requested", name="onemore")
    ledger.note("released", name="one")
    assert [e["event"] for e in ledger.find("one")] == ["released", "requested"]
    assert ledger.find("on") == []


def test_a_line_torn_by_a_crash_costs_only_itself(journal: Path) -> None:
    ledger.note("requested", name="one")
    with journal.open("a") as file:
        file.write('{"event": "requ')
    ledger.note("requested", name="two")
    assert [e["name"] for e in ledger.entries()] == ["one", "two"]


def test_one_that_cannot_be_written_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", "/dev/null/ledger.jsonl")
    ledger.note("requested", name="one")
    assert "warning: /dev/null/ledger.jsonl" in capsys.readouterr().err


def test_one_that_cannot_be_read_is_a_warning_too(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path))
    assert ledger.entries() == []
    assert "warning" in capsys.readouterr().err
