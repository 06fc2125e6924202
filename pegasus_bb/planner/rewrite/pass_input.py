"""The input and output of every pass, and how a pass changes a part of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.catalogs import SCRATCH, Catalogs
from pegasus_bb.model.default_sites import LOCAL, directory_entry
from pegasus_bb.model.document import Data, Document, Key, plain
from pegasus_bb.model.placement import Chain, Placement
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.settings import Properties

Keys = tuple[Key, ...]


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

    @property
    def programs(self) -> list[Data]:
        """The entries of the transformation catalog."""
        return self.transformations.data.get("transformations") or []

    def with_data(self, **parts: Data) -> Inputs:
        """With other data in the documents ``parts``."""
        changed: dict[str, Any] = {
            part: getattr(self, part).with_data(data) for part, data in parts.items()
        }
        return replace(self, **changed)

    def with_properties(self, values: Mapping[str, str]) -> Inputs:
        return replace(
            self, properties=self.properties.with_values(values, "pegasus-bb")
        )

    def with_site_profile(self, site: str, key: str, value: str) -> Inputs:
        """With the pegasus profile ``key`` of ``site``."""
        at = ("sites", site_index(self.sites, site), "profiles", "pegasus", key)
        return self.with_changes({"sites": {at: value}})

    def with_changes(self, values: Mapping[str, Mapping[Keys, Any]]) -> Inputs:
        """With the ``values`` of each part set under their keys."""
        parts: dict[str, Any] = {
            part: with_values(getattr(self, part), values[part]) for part in values
        }
        return replace(self, **parts)


@dataclass(frozen=True)
class Target:
    site: str  # the compute site whose scratch moves to the tier
    placement: Placement
    request: Request
    submit_dir: Path  # final and absolute
    chains: tuple[Chain, ...] = ()
    is_shared: bool = True  # ``request`` is for the reservation that jobs share

    @property
    def transfer_site(self) -> str:
        """Where transfers run."""
        return LOCAL if self.request.transfers_here else self.site

    @property
    def is_named_to_scheduler(self) -> bool:
        """Whether jobs tell the batch system of their reservation, or of its size."""
        tier = self.placement.job_tier
        is_slurm = self.request.kind.is_slurm or tier.kind.is_slurm
        return is_slurm or tier.request is not None

    @property
    def bin(self) -> Path:
        return self.submit_dir / "bb" / "bin"


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
    """The index of site ``name`` in the catalog. Raises CatalogError."""
    for index, entry in enumerate(sites.data["sites"]):
        if entry["name"] == name:
            return index
    known = ", ".join(str(entry["name"]) for entry in sites.data["sites"])
    raise sites.error(f"there is no site {name!r}", ["sites"], name, f"one of {known}")


def with_scratch(sites: Document, site: str, path: str | Path) -> Document:
    """``sites`` with the sharedScratch ``path`` of ``site``, if it has none."""
    index = site_index(sites, site)
    known = sites.data["sites"][index].get("directories") or []
    if any(each.get("type") in SCRATCH for each in known):
        return sites
    entry = directory_entry("sharedScratch", path)
    return with_values(sites, {("sites", index, "directories"): [*known, entry]})


@dataclass(frozen=True)
class ProfileSetting:
    """The value of a pegasus profile, and where it is set."""

    part: str  # of Inputs
    document: Document
    keys: Keys
    value: str

    @property
    def place(self) -> str:
        """The file and the line, for a person."""
        return self.document.place(self.keys)

    def error(self, what: str, would_do: str) -> CatalogError:
        return self.document.error(what, self.keys, self.value, would_do)


def site_profile(inputs: Inputs, site: str, key: str) -> ProfileSetting | None:
    """The pegasus profile ``key`` of ``site``, or None if it has none."""
    index = site_index(inputs.sites, site)
    entry = inputs.sites.data["sites"][index]
    return _setting_in(inputs, "sites", ("sites", index), entry, key)


def profile_settings(inputs: Inputs, key: str, *sites: str) -> Iterator[ProfileSetting]:
    """Yield the pegasus profile ``key`` wherever a job of ``sites`` may have it; a
    later one overrides those before. A job that is bound to site local has its own."""
    for part, at, entry in profile_entries(inputs, *sites):
        setting = _setting_in(inputs, part, at, entry, key)
        if setting is not None and not (part == "workflow" and _is_local(entry)):
            yield setting


def profile_entries(inputs: Inputs, *sites: str) -> Iterator[tuple[str, Keys, Data]]:
    """Yield each entry of a document that may have profiles: of ``sites``, of the
    transformation catalog, and of jobs."""
    for index, entry in enumerate(inputs.sites.data["sites"]):
        if entry["name"] in sites:
            yield "sites", ("sites", index), entry
    for index, entry in enumerate(inputs.programs):
        yield "transformations", ("transformations", index), entry
        for place, site in enumerate(entry.get("sites") or []):
            yield "transformations", ("transformations", index, "sites", place), site
    for index, entry in enumerate(inputs.workflow.data["jobs"]):
        if "profiles" in entry:  # as few jobs
            yield "workflow", ("jobs", index), entry


def with_settings(
    inputs: Inputs, changes: Iterable[tuple[ProfileSetting, str]]
) -> Inputs:
    """``inputs`` with other values of these settings."""
    values: dict[str, dict[Keys, str]] = {}
    for setting, value in changes:
        values.setdefault(setting.part, {})[setting.keys] = value
    return inputs.with_changes(values)


def _is_local(job: Data) -> bool:
    selector = (job["profiles"] or {}).get("selector") or {}
    return selector.get("execution.site") == LOCAL


def _setting_in(
    inputs: Inputs, part: str, at: Keys, entry: Data, key: str
) -> ProfileSetting | None:
    profiles = (entry.get("profiles") or {}).get("pegasus") or {}
    if key not in profiles:
        return None
    keys = (*at, "profiles", "pegasus", key)
    return ProfileSetting(part, getattr(inputs, part), keys, plain(profiles[key]))
