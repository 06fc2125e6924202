"""What a terminal of 80 columns shows of errors and of reservations."""

from __future__ import annotations

import io

import pytest

from pegasus_bb.cli import _say

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
