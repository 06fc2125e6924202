"""The input and output of every pass, and how a pass changes a part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Document, Key, plain
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import Properties
from pegasus_bb.model.reservation import Request


@dataclass(frozen=True)
class Inputs:
    """The inputs of pegasus-plan. Passes share unchanged parts, so never edit in place,
    and copy only the changed part: a workflow may have 100 000 jobs."""

    workflow: Document
    sites: Document
    replicas: Document
    transformations: Document
    properties: Properties

    @classmethod
    def of(cls, workflow: Document, catalogs: Catalogs) -> Inputs:
        return cls(
            workflow,
            catalogs.sites.document,
            catalogs.replicas.document,
            catalogs.transformations.document,
            catalogs.properties,
        )


@dataclass(frozen=True)
class Target:
    site: str  # the compute site whose scratch moves to the tier
    placement: Placement
    request: Request
    submit_dir: Path  # final and absolute

    @property
    def transfer_site(self) -> str:
        """Where transfers run: with a staging service on the submit host."""
        return LOCAL if self.request.service else self.site

    @property
    def bin(self) -> Path:
        return self.submit_dir / "bb" / "bin"


Keys = tuple[Key, ...]


def with_values(document: Document, values: Mapping[Keys, Any]) -> Document:
    """``document`` with each of ``values`` set under its keys; adds missing
    mappings."""
    if not values:
        return document
    return document.with_data(_put(document.data, values))


def _put(data: Any, values: Mapping[Keys, Any]) -> Any:
    copy: Any = list(data) if isinstance(data, list) else dict(data or {})
    below: dict[Key, dict[Keys, Any]] = {}
    for keys, value in values.items():
        below.setdefault(keys[0], {})[keys[1:]] = value
    for key, inner in below.items():
        if () in inner:
            copy[key] = inner[()]
        else:
            copy[key] = _put(_get(copy, key), inner)
    return copy


def _get(data: Any, key: Key) -> Any:
    return data[int(key)] if isinstance(data, list) else data.get(key)


def site_index(sites: Document, name: str) -> int:
    """The index of site ``name``, which is in the catalog."""
    names = [entry["name"] for entry in sites.data["sites"]]
    return names.index(name)


@dataclass(frozen=True)
class ProfileSetting:
    """The value of a pegasus profile, and where it is set."""

    document: Document
    keys: Keys
    value: str

    @property
    def place(self) -> str:
        """The file and the line, for a person."""
        return f"{self.document.path}:{self.document.line(self.keys)}"

    def error(self, what: str, would_do: str) -> CatalogError:
        return self.document.error(what, self.keys, self.value, would_do)


def site_profile(inputs: Inputs, site: str, key: str) -> ProfileSetting | None:
    """The pegasus profile ``key`` of ``site``, or None if it has none."""
    index = site_index(inputs.sites, site)
    entry = inputs.sites.data["sites"][index]
    return next(_settings_in(inputs.sites, ("sites", index), entry, key), None)


def transformation_profiles(inputs: Inputs, key: str) -> Iterator[ProfileSetting]:
    """Every pegasus profile ``key`` of the transformation catalog. It overrides the
    site's.
    """
    document = inputs.transformations
    for index, entry in enumerate(document.data.get("transformations") or []):
        at: Keys = ("transformations", index)
        yield from _settings_in(document, at, entry, key)
        for place, site in enumerate(entry.get("sites") or []):
            yield from _settings_in(document, (*at, "sites", place), site, key)


def job_profiles(inputs: Inputs, key: str) -> Iterator[ProfileSetting]:
    """The pegasus profile ``key`` of every job that is not bound to site local.

    It overrides the profiles of the catalogs.
    """
    for index, entry in enumerate(inputs.workflow.data["jobs"]):
        if "profiles" not in entry:
            continue  # as nearly all jobs
        profiles = entry["profiles"] or {}
        if (profiles.get("selector") or {}).get("execution.site") != "local":
            yield from _settings_in(inputs.workflow, ("jobs", index), entry, key)


def _settings_in(
    document: Document, at: Keys, entry: Any, key: str
) -> Iterator[ProfileSetting]:
    if "profiles" not in entry:
        return
    profiles = (entry["profiles"] or {}).get("pegasus") or {}
    if key in profiles:
        keys = (*at, "profiles", "pegasus", key)
        yield ProfileSetting(document, keys, plain(profiles[key]))
