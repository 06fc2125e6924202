"""Where the jobs of a site work: all in the workflow directory (sharedfs), or each in a
private folder with its declared inputs alone (condorio, nonsharedfs)."""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.document import one_of, plain

KEY = "data.configuration"
PROPERTY = f"pegasus.{KEY}"
SHARED = "sharedfs"
_PRIVATE = ("condorio", "nonsharedfs")
CHOICES = (SHARED, *_PRIVATE)
_DEFAULT = "condorio"  # of Pegasus 5


@dataclass(frozen=True)
class DataConfiguration:
    value: str
    origin: str  # where it is stated, for a person; empty: nowhere

    @property
    def is_private(self) -> bool:
        return self.value in _PRIVATE

    def __str__(self) -> str:
        return f"{self.value}, {self.origin or 'the default of Pegasus'}"


def data_configuration(catalogs: Catalogs, site: Site) -> DataConfiguration:
    """What holds for ``site``: its profile, else the property, else Pegasus's default.
    Raises CatalogError for a value that Pegasus does not have."""
    stated = site.profile("pegasus", KEY)
    properties = catalogs.properties
    if stated is not None:
        value = plain(stated).strip().lower()
        entry = catalogs.sites.document.entry("sites", site.index)
        at = entry.below("profiles", "pegasus", KEY)
        if value not in CHOICES:
            raise at.error(f"unknown {KEY}", stated, one_of(value, CHOICES))
        return DataConfiguration(value, at.document.path.name)
    if PROPERTY in properties:
        value = properties[PROPERTY].strip().lower()
        if value not in CHOICES:
            mend = one_of(value, CHOICES)
            raise properties.error(PROPERTY, f"unknown {KEY}", mend)
        return DataConfiguration(value, properties.origin(PROPERTY))
    return DataConfiguration(_DEFAULT, "")
