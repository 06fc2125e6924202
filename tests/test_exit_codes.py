"""docs/exit-codes.md and errors.py say the same."""

from __future__ import annotations

import re
from pathlib import Path

from pegasus_bb.core import errors

DOCUMENT = Path(__file__).parent.parent / "docs" / "exit-codes.md"
ROW = re.compile(r"\| ([0-9]+) \| ([A-Z_]+) \| [^|]+ \|")


def documented() -> dict[str, int]:
    rows = ROW.findall(DOCUMENT.read_text(encoding="utf-8"))
    return {name: int(code) for code, name in rows}


def in_the_code() -> dict[str, int]:
    return {
        name: value
        for name, value in vars(errors).items()
        if name.isupper() and type(value) is int  # TYPE_CHECKING is a bool
    }


def test_the_table_lists_every_code_and_no_other() -> None:
    assert documented() == in_the_code()


def test_no_two_decisions_share_a_code() -> None:
    codes = list(in_the_code().values())
    assert len(codes) == len(set(codes))


def test_every_error_answers_with_a_code_of_the_table() -> None:
    classes = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.PegasusBBError)
    ]
    assert len(classes) > 5
    assert {error.exit_code for error in classes} <= set(documented().values())
