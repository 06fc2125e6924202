"""Where the user wrote a value that a planned job has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.errors import CatalogError, UnplacedError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import Entry, Key
from pegasus_bb.model.workflow import Job, Workflow


@dataclass(frozen=True)
class ValueLines:
    workflow: Workflow
    catalogs: Catalogs

    @contextmanager
    def placed(
        self, site: str, transformation: str, job: Job | None = None
    ) -> Iterator[None]:
        """Raise an UnplacedError of the body as ``error``."""
        try:
            yield
        except UnplacedError as error:
            raise self.error(error, site, transformation, job) from error

    def error(
        self,
        error: UnplacedError,
        site: str,
        transformation: str,
        job: Job | None = None,
    ) -> CatalogError:
        """``error`` with the place that set the value: the job, its transformation, the
        site or a property, the narrowest first. A missing value belongs to the site."""
        entries = list(self._entries(site, transformation, job))
        for entry in entries:
            at = _within(entry.data, error.at)
            if at is not None:
                return _error(entry, at, error)
        properties = self.catalogs.properties
        key = ".".join(map(str, error.at[1:]))
        if key in properties:
            return properties.error(key, error.what, error.would_do)
        return _error(entries[-1], error.at, error)

    def _entries(
        self, site: str, transformation: str, job: Job | None
    ) -> Iterator[Entry]:
        if job is not None:
            yield self.workflow.document.entry("jobs", job.index)
        programs = self.catalogs.transformations
        for at in programs.places(transformation, site):
            yield programs.document.entry(*at)
        known = self.catalogs.sites
        if site in known.sites:
            yield known.document.entry("sites", known.sites[site].index)
        else:  # site local, which a catalog need not have
            yield known.document.entry()


def _error(entry: Entry, at: Sequence[Key], error: UnplacedError) -> CatalogError:
    keys = [*entry.at, *at]
    return entry.document.error(error.what, keys, error.found, error.would_do)


def _within(data: Any, at: Sequence[Key]) -> list[Key] | None:
    """The keys ``at`` as ``data`` spells them; None if it has no such value. The case
    of a namespace, and of some keys, does not matter."""
    found: list[Key] = []
    for key in at:
        if isinstance(data, dict):
            name = next((k for k in data if str(k).lower() == str(key).lower()), None)
        else:
            has_items = isinstance(data, list) and isinstance(key, int)
            name = key if has_items and int(key) < len(data) else None
        if name is None:
            return None
        found.append(name)
        data = data[name]
    return found
