"""Storage tiers as the site catalog declares them under ``x-storage-tiers``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegasus_bb.errors import UsageError
from pegasus_bb.model.document import Document, Key
from pegasus_bb.model.reservation import NODE_LOCAL
from pegasus_bb.model.shape import unknown_key
from pegasus_bb.paths import NAME_VARIABLES, PATH_VARIABLES, node_path_fault
from pegasus_bb.units import MIB, parse_duration, parse_size

KEY = "x-storage-tiers"

# docs/tiers.md lists them all; a test holds the two together.
CHOICES = {
    "backend": ("datawarp", "directory", NODE_LOCAL),
    "access": ("striped", "private"),
    "intermediate": ("bb", "pfs"),
    "inputs": ("stage", "link", "pfs"),
    "outputs": ("bb", "pfs"),
}
_RESERVED = ("access", "pool")  # where something is reserved
KEYS = ("name", *CHOICES, "pool", "capacity", "granularity")
_TAKEN = ("pfs", "link")  # words beside tiers, after bb.tier:
BACKEND_KEYS = {
    "datawarp": ("timeout", "poll", "mount", "account", "partition", "qos"),
    "directory": ("path", "quota", "timeout", "delay", "fail", "owner"),
    NODE_LOCAL: ("path", "quota", "mount"),
}


@dataclass(frozen=True)
class Tier:
    """One tier of one site. Sizes in bytes."""

    site: str
    name: str
    backend: str
    access: str = "striped"  # striped | private
    pool: str = ""  # empty: the scheduler's default pool
    capacity: int | None = None  # None: auto, from the sizes of the files
    granularity: int = 4 * MIB  # what the pool hands out is a multiple of this
    intermediate: str = "bb"  # where files between jobs live: bb | pfs
    inputs: str = "stage"  # stage (copy in) | link (to the PFS) | pfs
    outputs: str = "bb"  # written on the bb, then staged out | pfs
    settings: dict[str, str] = field(default_factory=dict)  # the backend's own keys

    @property
    def is_reserved(self) -> bool:
        """Whether anybody is asked for it: a job takes its node's disk as it is."""
        return self.backend != NODE_LOCAL

    @property
    def is_of_one_node(self) -> bool:
        """Whether a node sees no other's part of it."""
        return self.backend == NODE_LOCAL or self.access == "private"

    @property
    def is_staged(self) -> bool:
        """Whether the batch system brings the files of a job's own reservation; else
        our launcher does."""
        return self.backend == "datawarp" and self.access != "private"


def keys_of(backend: str) -> tuple[str, ...]:
    """What a tier of that backend may say."""
    left_out = _RESERVED if backend == NODE_LOCAL else ()
    return (*(key for key in KEYS if key not in left_out), *BACKEND_KEYS[backend])


def read_tiers(
    sites: Document, known_sites: Mapping[str, Any]
) -> dict[str, list[Tier]]:
    """Site name -> its tiers, in their order. Raises CatalogError."""
    declared = sites.data.get(KEY) or {}
    if not isinstance(declared, dict):
        raise sites.error(
            f"{KEY} is not a mapping of site to tiers",
            [KEY],
            type(declared).__name__,
            "write the site's name, and under it a list of tiers",
        )
    tiers: dict[str, list[Tier]] = {}
    for site, entries in declared.items():
        if site not in known_sites:
            raise sites.error(
                f"{KEY} names a site that this catalog does not have",
                [KEY, site],
                site,
                "one of " + ", ".join(known_sites),
            )
        tiers[site] = _read_site(sites, site, entries)
    return tiers


def _read_site(sites: Document, site: str, entries: Any) -> list[Tier]:
    if not isinstance(entries, list) or not entries:
        raise sites.error(
            "a site's tiers are a list", [KEY, site], entries, "- name: bb ..."
        )
    tiers = [
        _read_tier(sites, site, entry, [KEY, site, index])
        for index, entry in enumerate(entries)
    ]
    names = [tier.name for tier in tiers]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise sites.error(
                f"two tiers of site {site} have one name",
                [KEY, site, index, "name"],
                name,
                "give each tier of a site its own name",
            )
    return tiers


def _read_tier(sites: Document, site: str, entry: Any, at: list[Key]) -> Tier:
    if not isinstance(entry, dict):
        raise sites.error("a tier is a mapping", at, entry, "- name: bb ...")
    for key in ("name", "backend"):
        if key not in entry:
            raise sites.error(f"a tier without a {key}", at, "", f"add {key}: ...")
    values = {key: _text(sites, entry[key], [*at, key]) for key in entry}
    _check_choices(sites, values, at)
    _check_keys(sites, values, at)
    _check_tier_name(sites, values["name"], [*at, "name"])
    own = BACKEND_KEYS[values["backend"]]
    plain = {k: v for k, v in values.items() if k in CHOICES or k in ("name", "pool")}
    return Tier(
        site=site,
        capacity=_capacity(sites, values, at),
        granularity=_granularity(sites, values, at),
        settings=_settings(sites, {k: values[k] for k in own if k in values}, at),
        **plain,
    )


def _text(sites: Document, value: Any, at: list[Key]) -> str:
    if isinstance(value, (dict, list)) or value is None:
        raise sites.error("a single value is needed here", at, value)
    text = str(value)
    if "\n" in text or "\0" in text:
        raise sites.error("a value with a line break", at, repr(text))
    return text


def _check_choices(sites: Document, values: Mapping[str, str], at: list[Key]) -> None:
    for key, allowed in CHOICES.items():
        if key in values and values[key] not in allowed:
            raise sites.error(
                f"unknown {key}",
                [*at, key],
                values[key],
                "one of " + ", ".join(allowed),
            )


def _check_keys(sites: Document, values: Mapping[str, str], at: list[Key]) -> None:
    backend = values["backend"]
    allowed = keys_of(backend)
    if not values.keys() <= set(allowed):
        raise unknown_key(sites, values, allowed, f"a {backend} tier", at)
    path = values.get("path", "")
    if backend == "directory" and not path.startswith("/"):
        raise sites.error(
            "a directory tier needs the absolute path of its folder",
            [*at, "path"],
            path or "(nothing)",
            "path: /absolute/folder",
        )
    fault = node_path_fault(path) if backend == NODE_LOCAL else ""
    if fault:
        raise sites.error(
            f"a node-local tier needs the folder of the disk on every node: {fault}",
            [*at, "path"],
            path or "(nothing)",
            f"path: /nvme; it may begin with one of {_listed(PATH_VARIABLES)}, and "
            f"have {_listed(NAME_VARIABLES)} in it, without braces",
        )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"${name}" for name in names)


def _check_tier_name(sites: Document, name: str, at: list[Key]) -> None:
    plain = name.replace("-", "").replace("_", "")
    if (
        not (plain.isascii() and plain.isalnum() and name[0].isalpha())
        or name in _TAKEN
    ):
        raise sites.error(
            "a tier's name begins with a letter and has letters, digits, - and _; "
            "pfs and link are words of their own",
            at,
            name,
            "name: bb",
        )


def _capacity(sites: Document, values: Mapping[str, str], at: list[Key]) -> int | None:
    text = values.get("capacity", "auto")
    if text == "auto":
        return None
    return _size(sites, text, [*at, "capacity"], "such as 700GiB, or auto")


def _granularity(sites: Document, values: Mapping[str, str], at: list[Key]) -> int:
    text = values.get("granularity")
    if text is None:
        return 4 * MIB
    return _size(sites, text, [*at, "granularity"], "such as 4MiB")


def _size(sites: Document, text: str, at: list[Key], would_do: str) -> int:
    try:
        size = parse_size(text)
    except UsageError as error:
        raise sites.error(str(error), at, text, would_do) from error
    if size <= 0:
        raise sites.error("a size above zero is needed", at, text, would_do)
    return size


def _settings(sites: Document, own: Mapping[str, str], at: list[Key]) -> dict[str, str]:
    if "quota" in own:
        _size(sites, own["quota"], [*at, "quota"], "such as 700GiB")
    if own.get("mount", "required") not in ("required", "any"):
        would_do = "one of required, any"
        raise sites.error("unknown mount", [*at, "mount"], own["mount"], would_do)
    for key in ("timeout", "poll", "delay"):
        try:
            parse_duration(own.get(key, "0"))
        except UsageError as error:
            raise sites.error(str(error), [*at, key], own[key]) from error
    return dict(own)
