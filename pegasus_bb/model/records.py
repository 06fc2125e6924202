"""Records that a file has: a dataclass declares the keys, and how each is read.

@dataclass(frozen=True)
class Faults:
    mtti: float = key(seconds("such as 24h"))
    repair: float = key(seconds("such as 1h"), 0.0)

faults = read_record(Faults, document.entry("faults"))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import Field, field, fields
from typing import Any, ClassVar, Protocol, TypeVar

from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import Reader

_NEEDED = object()


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Record = TypeVar("Record", bound=_Dataclass)


def key(
    read: Reader[Any], absent: Any = _NEEDED, *, name: str = "", **more: Any
) -> Any:
    """A field that a file has under ``name``, else under the field's own. A file
    without the key has ``absent``; without ``absent`` it is needed. ``more`` is for
    ``dataclasses.field``."""
    return field(metadata={"read": read, "absent": absent, "name": name}, **more)


def read_record(kind: type[Record], entry: Entry, **known: Any) -> Record:
    """The mapping ``entry`` as ``kind``, whose other fields are ``known``. Raises
    CatalogError: a key that does not exist, one that is missing, one that is wrong."""
    declared = {f.metadata["name"] or f.name: f for f in fields(kind) if f.metadata}
    needs = [name for name, f in declared.items() if f.metadata["absent"] is _NEEDED]
    check_mapping(entry, declared, needs)
    values = {f.name: _value(entry, name, f) for name, f in declared.items()}
    return kind(**values, **known)


def record(kind: type[Record]) -> Reader[Record]:
    """A reader of a mapping that is a ``kind``."""
    return lambda entry: read_record(kind, entry)


def _value(entry: Entry, name: str, declared: Field[Any]) -> Any:
    if entry.data.get(name) is None:
        return declared.metadata["absent"]
    return declared.metadata["read"](entry.below(name))


def check_mapping(entry: Entry, known: Collection[str], needs: Collection[str]) -> None:
    """Check that ``entry`` is a mapping with ``known`` keys and with all of
    ``needs``."""
    last = entry.at[-1:] if not entry.at or isinstance(entry.at[-1], str) else entry.at
    what = ".".join(map(str, last)) or "the file"
    if not isinstance(entry.data, dict):
        raise entry.error(f"{what} is a mapping", would_do=f"keys: {', '.join(known)}")
    entry.check_keys(known, what)
    for name in needs:
        if entry.data.get(name) is None:
            raise entry.error(f"{what} without {name}", "", f"add {name}")
