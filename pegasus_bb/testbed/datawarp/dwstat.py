"""dwstat: what there is, as a table for people. Any user may ask, through scontrol."""

from __future__ import annotations

from typing import Sequence

from pegasus_bb.errors import UsageError
from pegasus_bb.testbed.datawarp.books import Books, Instance, Session, open_books
from pegasus_bb.testbed.datawarp.place import Place, Pool
from pegasus_bb.units import format_size

_WORDS = ("pools", "sessions", "instances", "most")


def answer(place: Place, argv: Sequence[str]) -> str:
    """The table that is asked for; pools without a word. Raises UsageError."""
    word = argv[0] if argv else "pools"
    if len(argv) > 1 or word not in _WORDS:
        raise UsageError(f"usage: dwstat [{'|'.join(_WORDS)}]")
    wanted = _WORDS[:-1] if word == "most" else (word,)
    with open_books(place) as books:
        tables = {name: _rows(place, books, name) for name in wanted}
    return "\n\n".join(_table(rows) for rows in tables.values())


def _rows(place: Place, books: Books, word: str) -> list[Sequence[str]]:
    if word == "pools":
        return [
            ("pool", "units", "quantity", "free", "gran"),
            *(_pool(pool, books.free(pool)) for pool in place.pools()),
        ]
    if word == "sessions":
        return [
            ("sess", "token", "creator", "owner", "created"),
            *(_session(session) for session in books.sessions),
        ]
    return [
        ("inst", "sess", "bytes", "pool", "granules"),
        *(_instance(instance) for instance in books.instances),
    ]


def _pool(pool: Pool, free: int) -> Sequence[str]:
    sizes = (format_size(n * pool.granularity) for n in (pool.quantity, free, 1))
    return (pool.name, "bytes", *sizes)


def _session(session: Session) -> Sequence[str]:
    creator = "CLI" if session.persistent else "SLURM"
    owner, created = str(session.owner), str(session.created)
    return (str(session.id), session.token, creator, owner, created)


def _instance(instance: Instance) -> Sequence[str]:
    numbers = (str(instance.id), str(instance.session))
    size = format_size(instance.bytes)
    return (*numbers, size, instance.pool, str(instance.granules))


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
