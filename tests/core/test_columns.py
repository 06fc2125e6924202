"""Lines that are longer than a terminal, and tables whose last column is prose."""

from __future__ import annotations

import pytest

from pegasus_bb.core.columns import columns, folded

REASON = "made by a job and not staged out: tier bb of site cluster says intermediate"


def test_the_last_column_goes_on_below_itself() -> None:
    table = columns([("files", "size", "reason"), ("4 files", "7.3 MiB", REASON)])
    lines = list(folded(table, 60))
    assert all(len(line) <= 60 for line in lines)
    start = table[1].index("made")
    assert [line[:start].strip() for line in lines[2:]] == [""] * len(lines[2:])
    assert " ".join(line[start:] for line in lines[1:]) == REASON


@pytest.mark.parametrize(
    ("line", "indent"),
    [
        (f"capacity: {REASON} {REASON}", 2),
        (f"mode:     {REASON} {REASON}", 10),
        (f"{'':15} fix: {REASON}", 16),
        (f"{'x' * 50}  {REASON}", 2),  # no room below the last column
    ],
)
def test_what_goes_on_stands_below_its_beginning(line: str, indent: int) -> None:
    first, *more = folded([line], 80)
    assert more
    assert {len(each) - len(each.lstrip()) for each in more} == {indent}
    assert " ".join([first, *(each.strip() for each in more)]) == line
