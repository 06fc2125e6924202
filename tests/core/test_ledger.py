"""The ledger lists every reservation that this user ever asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core import ledger


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "state" / "ledger.jsonl"
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(path))
    return path


def test_of_all_lines_there_is_one_entry_by_name_and_run(journal: Path) -> None:
    assert ledger.entries() == []
    ledger.note("requested", name="one", uuid="1", size=5, submit_dir="/a", host="h")
    ledger.note("requested", name="two", uuid="2")
    ledger.note("released", name="one", uuid="1")
    ledger.note("released", name="two", uuid="of another run")
    one, two = ledger.reservations()
    assert (one.name, one.size, one.submit_dir, one.host) == ("one", 5, "/a", "h")
    assert (one.end, one.ended_at >= one.time) == ("released", True)
    assert (two.name, two.end) == ("two", "")
    assert [line["event"] for line in ledger.find("one")] == ["released", "requested"]
    assert ledger.find("on") == []


@pytest.mark.parametrize(
    "value", ['"x"', "null", "[]", "{}", "NaN", "1e999", "1" + "0" * 400, "true"]
)
def test_an_edited_line_hides_no_other(journal: Path, value: str) -> None:
    ledger.note("requested", name="one", uuid="1")
    keys = ("time", "event", "name", "uuid", "size", "request")
    with journal.open("a") as file:
        for key in keys:
            its_own = f'"event": "requested", "name": "odd", "uuid": "{key}"'
            file.write(f'{{{its_own}, "{key}": {value}}}\n')
    ledger.note("requested", name="two", uuid="2")
    names = [asked.name for asked in ledger.reservations()]
    assert names[0] == "one" and names[-1] == "two"
