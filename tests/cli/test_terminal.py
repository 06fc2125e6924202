"""What a terminal of 80 columns shows of errors and of reservations."""

from __future__ import annotations

import io

import pytest
from pegasus_bb_lab.commands.mix_tables import _table

from pegasus_bb.cli import _say
from pegasus_bb.cli.ls import table
from pegasus_bb.run.inventory.run_state import ReservationRecord

ERROR = "sites.yml:3: wrong\n  fix:      " + "say how much to reserve " * 5


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "is_whole"), [(Terminal, False), (io.StringIO, True)]
)
def test_an_error_goes_on_below_itself(
    stream: type[io.StringIO], is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr", found := stream())
    _say(ERROR)
    lines = found.getvalue().splitlines()
    assert (lines[1] == ERROR.splitlines()[1]) is is_whole
    assert all(len(line) <= 80 for line in lines) is not is_whole
    if not is_whole:  # below "say"
        assert lines[2][:13].strip() == lines[2][12]


def test_reservations_fit_without_their_backends() -> None:
    record = ReservationRecord(
        name="pbbe3a023250d0d",
        backend="directory",
        size=1 << 30,
        state="released",
        message="",
        site="cluster",
        tier="bb",
        label="cybershake",
    )
    wide, narrow = table([record]), table([record], 80)
    assert "directory" in wide[1] and "directory" not in narrow[1]
    assert all(len(line) <= 80 < len(wide[0]) + 5 for line in narrow)
    assert table([record], 200) == wide


def test_a_table_of_cases_that_is_too_wide_becomes_two() -> None:
    rows = [tuple(f"{name}{'x' * 12}" for name in "abcdefg")] * 2
    assert len(list(_table(rows, None))) == 2
    lines = list(_table(rows, 80))
    assert [line.split()[0][0] for line in lines if line] == ["a"] * 4
    assert [line.split()[-1][0] for line in lines if line] == ["e", "e", "g", "g"]
    assert max(map(len, lines)) <= 80
