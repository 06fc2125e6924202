"""What Slurm's part of the service knows durably: records in its database."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pegasus_bb.stager.store import Change, Store, recorded, unrecorded

AnyRecord = TypeVar("AnyRecord", bound="Record")


class Record:
    """An object that is stored: all its attributes but those with an underscore."""

    @property
    def name(self) -> str:
        """Its name among the records of its kind."""
        raise NotImplementedError


class Records(Generic[AnyRecord]):
    """All records of one kind. Methods raise OSError."""

    def __init__(self, store: Store, kind: type[AnyRecord]) -> None:
        self._store, self._kind = store, kind

    def read(self) -> list[AnyRecord]:
        """Return those of an earlier service, oldest first."""
        return list(map(self._known, self._store.records(self._kind.__name__)))

    def save(self, record: AnyRecord) -> None:
        """Store ``record``; it is durable when this returns."""
        self._store.write_now(self.saved(record))

    def saved(self, record: AnyRecord) -> list[Change]:
        """Return what stores ``record`` together with something else."""
        known = {key: value for key, value in vars(record).items() if key[0] != "_"}
        return recorded(self._kind.__name__, record.name, known)

    def remove(self, record: AnyRecord) -> None:
        """Remove what is stored of ``record``; do nothing if there is nothing."""
        self._store.write_now(unrecorded(self._kind.__name__, record.name))

    def _known(self, found: dict[str, Any]) -> AnyRecord:
        record = self._kind()
        vars(record).update(found)
        return record
