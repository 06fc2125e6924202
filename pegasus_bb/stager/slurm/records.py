"""Records on disk, a JSON file each: a damaged one is refused, never taken for empty.

The folders that a damaged record describes are not touched: no service starts before an
administrator has looked at it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json, sync_directory, write_json
from pegasus_bb.stager.config_checks import can_be_written

AnyRecord = TypeVar("AnyRecord", bound="Record")


class Record:
    """An object that is stored: all its attributes but those with an underscore."""

    NEEDED: ClassVar[tuple[str, ...]] = ()  # attributes that every version has written
    LISTS: ClassVar[dict[str, list[Any]]] = {}  # what is in those that are lists

    @property
    def file_name(self) -> str:
        """Its name in the folder of its records."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return what is stored."""
        return {key: self.__dict__[key] for key in self.__dict__ if key[0] != "_"}

    @classmethod
    def read(cls: type[AnyRecord], path: str) -> AnyRecord:
        """Return what is stored in ``path``. Raises OSError; UsageError where it is
        damaged."""
        record = cls()
        like = {**record.as_json(), **cls.LISTS}
        data = check_record(path, read_stored(path), like, cls.NEEDED)
        # Without what a later version has written beside.
        record.__dict__.update({key: data[key] for key in data if key in like})
        return record


class RecordFolder(Generic[AnyRecord]):
    """All records of one kind. Methods raise OSError."""

    def __init__(self, folder: str, kind: type[AnyRecord]) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._folder, self._kind = folder, kind

    def read(self) -> Iterator[AnyRecord]:
        """Return those of an earlier service. Raises UsageError as well."""
        return map(self._kind.read, self.paths())

    def paths(self) -> Iterator[str]:
        """Return the full names of all files."""
        for name in sorted(os.listdir(self._folder)):
            if name.endswith(".json"):
                yield os.path.join(self._folder, name)

    def path(self, record: AnyRecord) -> str:
        """Return the full name of the file of ``record``."""
        return os.path.join(self._folder, f"{record.file_name}.json")

    def save(self, record: AnyRecord) -> None:
        """Store ``record``; it is durable when this returns."""
        write_json(self.path(record), record.as_json())

    def remove(self, record: AnyRecord) -> None:
        """Remove the file of ``record``; do nothing if there is none."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(record))
            sync_directory(self._folder)


def damaged(path: str, why: object) -> UsageError:
    """Return what to say of a record that cannot be used."""
    return UsageError(
        f"{path} is damaged: {why}. Nothing was changed. Put a copy of the file back, "
        "or move it away: its folders stay (docs/slurm-lua.md, A damaged record)"
    )


def read_stored(path: str) -> Any:
    """Return the JSON in ``path``. Raises OSError; UsageError where there is none."""
    try:
        return read_json(path)
    except ValueError as error:
        raise damaged(path, error) from error


def check_record(
    path: str, data: Any, like: dict[str, Any], needed: Sequence[str]
) -> dict[str, Any]:
    """Return ``data`` where it is an object with the keys ``needed``, and each value
    that ``like`` has, too, is of the same type. An earlier version may have written
    fewer keys and a later one more, but neither does both. Raises UsageError."""
    if not isinstance(data, dict):
        raise damaged(path, f"{str(data)[:40]!r} is no object")
    for key in needed:
        if key not in data:
            raise damaged(path, f"it has no {key}")
    unknown = data.keys() - like.keys()
    absent = like.keys() - data.keys()
    if unknown and absent:
        raise damaged(path, f"it has {min(unknown)[:40]!r} and no {min(absent)}")
    for key, value in data.items():
        if key in like and not _is_like(value, like[key]):
            raise damaged(path, f"{key}: {str(value)[:40]!r}")
    return data


def _is_like(value: Any, like: Any) -> bool:
    """Tell whether the types are the same. The elements of a list are compared with the
    first one of ``like``, if it has any."""
    if like is None:
        return value is None or type(value) is int
    if isinstance(like, str):
        return isinstance(value, str) and can_be_written(value)
    if isinstance(like, list):
        elements = like[:1] * len(value) if isinstance(value, list) else []
        return isinstance(value, list) and all(map(_is_like, value, elements))
    if isinstance(like, float):
        return type(value) in (int, float) and abs(value) < 1 << 40  # no NaN
    return type(value) is type(like)
