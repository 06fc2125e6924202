"""dwstat: tables for people. Any user may ask, through scontrol."""

from __future__ import annotations

from typing import List, Sequence

from pegasus_bb.errors import UsageError
from pegasus_bb.testbed.datawarp.accounts import Accounts, open_accounts
from pegasus_bb.testbed.datawarp.place import Place
from pegasus_bb.units import format_size

_WORDS = ("pools", "sessions", "instances", "most")
_Rows = List[Sequence[str]]


def answer(place: Place, argv: Sequence[str]) -> str:
    """The table that is asked for; pools without a word. Raises UsageError."""
    word = argv[0] if argv else "pools"
    if len(argv) > 1 or word not in _WORDS:
        raise UsageError(f"usage: dwstat [{'|'.join(_WORDS)}]")
    wanted = _WORDS[:-1] if word == "most" else (word,)
    with open_accounts(place) as accounts:
        tables = [_rows(place, accounts, name) for name in wanted]
    return "\n\n".join(_table(rows) for rows in tables)


def _rows(place: Place, accounts: Accounts, word: str) -> _Rows:
    rows: _Rows
    if word == "pools":
        rows = [("pool", "units", "quantity", "free", "gran")]
        for pool in place.pools():
            granules = (pool.quantity, accounts.free(pool), 1)
            sizes = (format_size(number * pool.granularity) for number in granules)
            rows.append((pool.name, "bytes", *sizes))
    elif word == "sessions":
        rows = [("sess", "token", "creator", "owner", "created")]
        for s in accounts.sessions:
            creator = "CLI" if s.persistent else "SLURM"
            rows.append((str(s.id), s.token, creator, str(s.owner), str(s.created)))
    else:
        rows = [("inst", "sess", "bytes", "pool", "granules")]
        for i in accounts.instances:
            size = format_size(i.bytes)
            rows.append((str(i.id), str(i.session), size, i.pool, str(i.granules)))
    return rows


def _table(rows: _Rows) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
