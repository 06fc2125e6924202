"""pegasus-bb release: whose reservation it is that goes, and whose never."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli import release as module
from pegasus_bb.core import ledger
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import ENGINE_LOCK, write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.runtime.bbdir import BBDir


@pytest.fixture
def given_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of what was given back, in place of giving it back."""
    names: list[str] = []

    def note(bb: BBDir, discard: bool) -> str:
        names.append(bb.request().name + (" discarded" if discard else ""))
        return "given back"

    monkeypatch.setattr(module, "release", note)
    monkeypatch.setattr(module, "give_up", lambda bb: note(bb, True) + " up")
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(tmp_path / "ledger.jsonl"))
    monkeypatch.chdir(tmp_path)
    return names


def planned(folder: Path, name: str) -> Path:
    (folder / "bb").mkdir(parents=True)
    asked = Request(name, "directory", 1, f"/bb/{name}", f"uuid of {name}", "bb", "c")
    write_json(str(folder / "bb" / "request.json"), asked.to_json())
    write_json(str(folder / "bb" / "plan.json"), {"version": 2, "dag": "w.dag"})
    ledger.note("requested", name=name, uuid=asked.uuid, submit_dir=str(folder))
    return folder


def release(*arguments: str) -> None:
    CliRunner().invoke(module.command, list(arguments), catch_exceptions=False)


def test_by_name_and_by_submit_directory(given_back: list[str], tmp_path: Path) -> None:
    folder = planned(tmp_path / "run", "pbbone")
    release("pbbone")
    release(str(folder))
    assert given_back == ["pbbone", "pbbone"]


def test_discarding_needs_the_name(given_back: list[str], tmp_path: Path) -> None:
    folder = planned(tmp_path / "run", "pbbone")
    with pytest.raises(UsageError, match="pegasus-bb release pbbone --discard"):
        release(str(folder), "--discard")
    assert given_back == []


def test_a_run_whose_jobs_have_their_own_reservations_has_none_to_name(
    given_back: list[str], tmp_path: Path
) -> None:
    folder = planned(tmp_path / "run", "pbbone")
    (folder / "bb" / "request.json").rename(folder / "bb" / "transient.json")
    with pytest.raises(UsageError, match="a reservation of its own, which ends with"):
        release(str(folder))


def test_where_the_ledger_was_lost_the_submit_directory_brings_the_name_back(
    given_back: list[str], tmp_path: Path
) -> None:
    folder = planned(tmp_path / "run", "pbbone")
    bb = BBDir(str(folder / "bb"))
    uuid = bb.request().uuid
    bb.note_reservation(Reservation("pbbone", "directory", uuid, requested_at=1.0))
    Path(ledger.path()).unlink()
    with pytest.raises(UsageError, match="name the submit directory of its run"):
        release("pbbone", "--discard")
    with pytest.raises(UsageError, match="pegasus-bb release pbbone --discard"):
        release(str(folder), "--discard")
    release("pbbone", "--discard")
    assert given_back == ["pbbone discarded"]
    assert len(ledger.find("pbbone")) == 1


def test_release_refuses_the_reservation_of_a_living_run(
    given_back: list[str], tmp_path: Path
) -> None:
    folder = planned(tmp_path / "run", "pbbone")
    me = os.getpid()
    says = rf"another pegasus-bb run works .*\(pid {me} on host"
    with lock_submit_dir(folder / ENGINE_LOCK), pytest.raises(UsageError, match=says):
        release("pbbone", "--discard")
    assert given_back == []


@pytest.mark.parametrize(
    "words",
    [
        ("pbbone", "--gone", "pbbone"),
        ("pbbone", "--discard", "--gone", "pbbother"),
        ("pbbone", "--discard", "--gone", ""),
    ],
)
def test_storage_that_is_gone_is_named_once_more(
    given_back: list[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    planned(tmp_path / "run", "pbbone")
    with pytest.raises(UsageError, match="once more, pbbone"):
        release(*words)
    assert given_back == []
    release("pbbone", "--discard", "--gone", "pbbone")
    assert given_back == ["pbbone discarded"]
