"""The storage tiers of sites: ``x-storage-tiers`` of the site catalog, or of bb.yml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import NAME_VARIABLES, PATH_VARIABLES, node_path_fault
from pegasus_bb.core.units import MIB, parse_duration
from pegasus_bb.model.backends import KINDS, BackendKind
from pegasus_bb.model.document import Document, Entry, closest, one_of

if TYPE_CHECKING:
    from pegasus_bb.model.disk_request import DiskRequest
    from pegasus_bb.model.pools import Pool
    from pegasus_bb.model.tier_drain import TierDrain

KEY = "x-storage-tiers"

# docs/tiers.md lists them all; a test compares the two.
CHOICES = {
    "backend": tuple(KINDS),
    "access": ("striped", "private"),
    "intermediate": ("bb", "pfs"),
    "inputs": ("stage", "link", "pfs"),
    "outputs": ("bb", "pfs"),
    "streams": ("off", "user", "workflow", "cohort", "lifetime", "auto"),
}
# these are not single values
SUBMIT_DIR = "submit_dir"  # shared | local: nodes see the tier alone
_TEMP = "temp"  # true: temporary files of jobs, too
_CACHE = "cache"  # bytes of shared inputs that a node keeps
_DRAIN = "drain"
_POOLS = "pools"
KEYS = ("name", *CHOICES, "pool", "capacity", "granularity", "scratch", _DRAIN)
_TEXTS = ("name", "pool", "scratch")
_RESERVED = ("pfs", "link")  # other words that may follow bb.tier:


@dataclass(frozen=True)
class Tier:
    """One tier of one site. Sizes in bytes."""

    site: str
    name: str
    backend: str
    access: str = "striped"  # striped | private
    pool: str = ""  # empty: the scheduler's default pool
    capacity: int | None = None  # None: auto, from the sizes of the files
    granularity: int = 4 * MIB  # the pool grants multiples of this
    intermediate: str = "bb"  # where files between jobs live: bb | pfs
    inputs: str = "stage"  # stage (copy in) | link (to the PFS) | pfs
    outputs: str = "bb"  # written on the bb, then staged out | pfs
    streams: str = "off"  # the policy of write hints for copies on the tier
    pools: tuple[Pool, ...] = ()  # in the order of preference
    settings: dict[str, str] = field(default_factory=dict)  # the backend's own keys
    drain: TierDrain | None = None  # how results leave it; None: at once
    request: DiskRequest | None = None  # how a job asks for its node's disk, by size
    largest: int | None = None  # bytes that a job may ask for; None: no limit is known
    price: float | None = None  # of a GiB for an hour, in the site's own unit
    scratch: str = ""  # the site's folder on the PFS, if it has no sharedScratch

    @property
    def kind(self) -> BackendKind:
        """What its backend does."""
        return KINDS[self.backend]

    @property
    def is_reserved(self) -> bool:
        """Whether it has reservations; a job uses its node's disk without one."""
        return self.kind.has_reservations

    @property
    def is_of_one_node(self) -> bool:
        return not self.is_reserved or self.access == "private"

    @property
    def has_temporary_files(self) -> bool:
        """Whether the temporary files of its jobs are there."""
        return self.settings.get(_TEMP) == "true"

    @property
    def has_cache(self) -> bool:
        """Whether a shared input comes once to a node."""
        return _CACHE in self.settings

    @property
    def is_all_nodes_see(self) -> bool:
        """Whether its nodes see nothing else of what the submit host has."""
        return self.settings.get(SUBMIT_DIR) == "local"

    @property
    def is_staged(self) -> bool:
        """Whether the batch system stages the files of a job reservation; else our
        launcher does."""
        return self.kind.is_slurm and self.access != "private"


def keys_of(backend: str) -> tuple[str, ...]:
    kind = KINDS[backend]
    return (*(key for key in KEYS if key not in kind.unsupported), *kind.keys)


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
    return {site: _read_site(sites, site, known_sites) for site in declared}


def _read_site(
    sites: Document, site: str, known_sites: Mapping[str, Any]
) -> list[Tier]:
    entry = sites.entry(KEY, site)
    if site not in known_sites:
        raise entry.error(
            f"{KEY} names a site that the site catalog does not have",
            site,
            "one of " + ", ".join(known_sites),
        )
    if not isinstance(entry.data, list) or not entry.data:
        raise entry.error("a site's tiers are a list", would_do="- name: bb ...")
    tiers: dict[str, Tier] = {}
    for index in range(len(entry.data)):
        tier = _read_tier(entry.below(index), site)
        if tier.name in tiers:
            raise entry.below(index, "name").error(
                f"two tiers of site {site} have one name",
                tier.name,
                "give each tier of a site its own name",
            )
        tiers[tier.name] = tier
    return list(tiers.values())


def _read_tier(entry: Entry, site: str) -> Tier:
    if not isinstance(entry.data, dict):
        raise entry.error("a tier is a mapping", would_do="- name: bb ...")
    for key in ("name", "backend"):
        if key not in entry.data:
            unknown = [str(each) for each in entry.data if each not in KEYS]
            found = closest(key, unknown)
            raise entry.error(
                f"a tier without a {key}",
                found[0] if found else "",
                f"{key} in its place" if found else f"add {key}: ...",
            )
    single = (key for key in entry.data if key not in (_DRAIN, _POOLS))
    values = {key: _text(entry.below(key)) for key in single}
    if _TEMP in values:
        values[_TEMP] = str(entry.flag(_TEMP, default=False)).lower()
    _check_choices(entry, CHOICES, values)
    backend = values["backend"]
    _check_submit_dir(entry, KINDS[backend])
    _check_keys(entry, backend)
    _check_path(entry, KINDS[backend], values.get("path", ""))
    _check_pool(entry, KINDS[backend], values.get("pool", ""))
    _check_scratch(entry, values.get("scratch", "/"))
    _check_name(entry.below("name"), values["name"])
    _check_settings(entry, values)
    own = KINDS[backend].keys
    return Tier(
        site=site,
        capacity=_capacity(entry, values.get("capacity", "auto")),
        granularity=_size(entry, "granularity", "such as 4MiB") or 4 * MIB,
        pools=_pools(entry) if _POOLS in entry.data else (),
        settings={key: values[key] for key in own if key in values},
        drain=_drain(entry.below(_DRAIN)) if _DRAIN in entry.data else None,
        request=_request(entry) if "request" in values else None,
        largest=_size(entry, "largest", "such as 700GiB"),
        price=_price(entry.below("price")) if "price" in values else None,
        **{k: v for k, v in values.items() if k in (*CHOICES, *_TEXTS)},
    )


def _check_keys(entry: Entry, backend: str) -> None:
    """Raises CatalogError for a key that a tier of ``backend`` does not have."""
    known = keys_of(backend)
    for key in [key for key in entry.data if key not in known]:
        others = [name for name in KINDS if key in keys_of(name)]
        if others:
            raise entry.below(key).error(
                f"a {backend} tier has no such key",
                key,
                f"leave it out: it is for {', '.join(others)} tiers",
            )
    entry.check_keys(known, f"a {backend} tier")


def _drain(entry: Entry) -> TierDrain:
    from pegasus_bb.model.tier_drain import read_drain  # few tiers have one

    return read_drain(entry)


def _request(entry: Entry) -> DiskRequest:
    from pegasus_bb.model.disk_request import read_request  # few tiers have one

    return read_request(entry.below("request"))


def _price(entry: Entry) -> float:
    value = entry.data
    if type(value) not in (int, float) or not 0 <= value < 1e12:
        raise entry.error("a price is a number", would_do="0.02, for a GiB and hour")
    return float(value)


def _pools(entry: Entry) -> tuple[Pool, ...]:
    from pegasus_bb.model.pools import read_pools  # few tiers have them

    return read_pools(entry)


def _text(entry: Entry) -> str:
    if isinstance(entry.data, (dict, list)) or entry.data is None:
        raise entry.error("a single value is needed here")
    text = str(entry.data)
    if "\n" in text or "\0" in text:
        raise entry.error("a value with a line break", repr(text))
    return text


def _check_choices(
    entry: Entry, choices: Mapping[str, tuple[str, ...]], values: Mapping[str, str]
) -> None:
    for key, allowed in choices.items():
        if key in values and values[key] not in allowed:
            would_do = one_of(values[key], allowed)
            raise entry.below(key).error(f"unknown {key}", values[key], would_do)


def _check_submit_dir(entry: Entry, kind: BackendKind) -> None:
    if SUBMIT_DIR not in entry.data:
        return
    if SUBMIT_DIR in kind.keys:
        _check_cache_of_travellers(entry)
        return
    raise entry.below(SUBMIT_DIR).error(
        f"nodes of a {kind.name} tier open the submit directory: blahp hands over no "
        "files of a job to Slurm, and takes none back",
        str(entry.data[SUBMIT_DIR]),
        "--dir with a folder that nodes and the submit host see, without the key",
    )


def _check_cache_of_travellers(entry: Entry) -> None:
    if entry.data[SUBMIT_DIR] == "local" and _CACHE in entry.data:
        raise entry.below(_CACHE).error(
            "HTCondor brings each job its inputs (submit_dir: local), so a cache on "
            "the node would save nothing",
            str(entry.data[_CACHE]),
            f"the tier without the key {_CACHE}",
        )


def _check_path(entry: Entry, kind: BackendKind, path: str) -> None:
    if kind.is_one_folder and not path.startswith("/"):
        raise entry.below("path").error(
            "a directory tier needs the absolute path of its folder",
            path or "(nothing)",
            "path: /absolute/folder",
        )
    fault = node_path_fault(path) if not kind.has_reservations else ""
    if fault:
        raise entry.below("path").error(
            f"a node-local tier needs the folder of the disk on every node: {fault}",
            path or "(nothing)",
            f"path: /nvme; it may begin with one of {_listed(PATH_VARIABLES)}, and "
            f"have {_listed(NAME_VARIABLES)} in it, without braces",
        )


def _check_scratch(entry: Entry, path: str) -> None:
    if not path.startswith("/"):
        raise entry.below("scratch").error(
            "the site's folder on the parallel file system is a full path",
            path,
            "scratch: /scratch/project",
        )


def _check_pool(entry: Entry, kind: BackendKind, pool: str) -> None:
    if kind.needs_pool and not pool:
        raise entry.below("pool").error(
            f"a {kind.name} tier names its pool: Slurm takes no capacity without one",
            "(nothing)",
            "pool: one of those that `scontrol show bbstat list` shows",
        )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"${name}" for name in names)


def _check_name(entry: Entry, name: str) -> None:
    plain = name.replace("-", "").replace("_", "")
    is_word = plain.isascii() and plain.isalnum() and name[0].isalpha()
    if not is_word or name in _RESERVED:
        raise entry.error(
            "a tier's name begins with a letter and has letters, digits, - and _; "
            "pfs and link are reserved words",
            name,
            "name: bb",
        )


def _check_settings(entry: Entry, values: Mapping[str, str]) -> None:
    _size(entry, "quota", "such as 700GiB")
    _size(entry, _CACHE, "such as 50GiB; without the key there is no cache")
    if "largest" in values and "request" not in values:
        raise entry.below("largest").error(
            "this is the most that a job asks for, and without a request none asks",
            would_do='request: "--gres=nvme:{gb}" beside it, or quota in its place',
        )
    service = values.get("service", "/")
    if not service.startswith("/"):
        would_do = "service: /run/pegasus-bb"
        what = "the folder of the staging service's sockets is a full path"
        raise entry.below("service").error(what, service, would_do)
    choices = {"mount": ("required", "any"), SUBMIT_DIR: ("shared", "local")}
    _check_choices(entry, choices, values)
    for key in ("timeout", "poll", "delay"):
        try:
            parse_duration(values.get(key, "0"))
        except UsageError as error:
            raise entry.below(key).error(str(error)) from error


def _capacity(entry: Entry, text: str) -> int | None:
    return (
        None if text == "auto" else _size(entry, "capacity", "such as 700GiB, or auto")
    )


def _size(entry: Entry, key: str, would_do: str) -> int | None:
    if key not in entry.data:
        return None
    size = entry.below(key).size(would_do=would_do)
    if size <= 0:
        raise entry.below(key).error("a size above zero is needed", would_do=would_do)
    return size
