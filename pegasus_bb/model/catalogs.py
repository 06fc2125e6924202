"""The catalogs of a planning: typed views of sites, replicas and transformations over
the whole documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.files import is_file
from pegasus_bb.core.paths import local_path
from pegasus_bb.model.catalog_files import SOURCES, catalog_document, environment
from pegasus_bb.model.dag.blahp import CONDOR
from pegasus_bb.model.default_sites import STORAGE, with_default_sites
from pegasus_bb.model.document import Data, Document, Entry, Key, load, plain
from pegasus_bb.model.settings import PREFIX, Properties
from pegasus_bb.model.tiers import KEY as TIERS
from pegasus_bb.model.tiers import Tier, read_tiers
from pegasus_bb.model.transformations import (
    MAPPER,
    OS,
    TransformationCatalog,
    read_transformations,
    with_programs,
)

TIERS_FILE = f"{PREFIX}tiers"  # a property
_OF_SITES = "pegasus.catalog.site.sites."  # properties: profiles of sites
REPOSITORY = "pegasus.catalog.site.repo.file"  # a property: sites below the user's own
SPEEDS = "x-storage-speeds"
STORAGE_FILE = "bb.yml"  # beside the workflow
SCRATCH = ("sharedScratch", "shared-scratch")
# What pegasus-transfer knows; any other is left to it, unless it looks like a slip.
_SCHEMES = (
    "file",
    "symlink",
    "moveto",
    "gsiftp",
    "sshftp",
    "ftp",
    "http",
    "https",
    "scp",
    "sftp",
    "gsiscp",
    "s3",
    "s3s",
    "gs",
    "irods",
    "stash",
    "osdf",
    "pelican",
    "webdav",
    "webdavs",
    "go",
    "docker",
    "singularity",
    "library",
    "shub",
    "hpss",
    "srm",
    "root",
    "x-gsiftp",
    "cvmfs",
)
# Any other key is a mistake, but for extensions (x-): pegasus-plan refuses it as well.
_OF_A_SITE = ("name", "arch", "directories", "grids", "profiles", *OS)
_OF_A_DIRECTORY = (
    "type",
    "path",
    "sharedFileSystem",
    "freeSize",
    "totalSize",
    "fileServers",
)
_OF_A_SERVER = ("url", "operation", "profiles")
_OF_A_REPLICA = ("lfn", "pfns", "regex", "checksum", "metadata")
_OF_A_PFN = ("site", "pfn")


@dataclass(frozen=True)
class Directory:
    kind: str  # sharedScratch | localStorage | ...
    path: str
    index: int  # its place in the site's list


@dataclass(frozen=True)
class Site:
    """One site; ``data`` is its whole entry in the catalog."""

    name: str
    directories: tuple[Directory, ...]
    profiles: Mapping[str, Mapping[str, Any]]
    data: Data
    index: int  # its place in the document's list

    @property
    def scratch(self) -> Directory | None:
        return next((d for d in self.directories if d.kind in SCRATCH), None)

    @property
    def storage(self) -> Directory | None:
        return next((d for d in self.directories if d.kind in STORAGE), None)

    def profile(self, namespace: str, key: str) -> str | None:
        value = self.profiles.get(namespace, {}).get(key)
        return None if value is None else plain(value)

    @property
    def style(self) -> str:
        """How jobs reach it: condor, a pool, or a batch system through blahp."""
        return (self.profile("pegasus", "style") or CONDOR).lower()


@dataclass(frozen=True)
class SiteCatalog:
    document: Document
    sites: dict[str, Site]

    def site(self, name: str) -> Site:
        if name not in self.sites:
            raise self.document.error(
                f"there is no site {name!r}",
                ["sites"],
                name,
                "one of " + ", ".join(self.sites),
            )
        return self.sites[name]


@dataclass(frozen=True, slots=True)
class Replica:
    lfn: str
    pfn: str  # a URL or a path
    site: str
    size: int | None = None  # bytes, if the catalog says
    checksum: str = ""  # sha256:..., if the catalog says


@dataclass(frozen=True)
class ReplicaCatalog:
    """Replicas by LFN, in the order in which the sources name them."""

    document: Document
    replicas: dict[str, list[Replica]]

    def error(
        self, lfn: str, what: str, found: object = "", would_do: str = ""
    ) -> CatalogError:
        """An error about the entry of ``lfn``, with its line."""
        return self.document.error(what, self.keys(lfn), found, would_do)

    def keys(self, lfn: str) -> tuple[Key, ...]:
        """The keys of the entry of ``lfn``, or of the list if there is none."""
        entries = enumerate(self.document.data.get("replicas") or ())
        index = next((n for n, entry in entries if str(entry["lfn"]) == lfn), None)
        return ("replicas",) if index is None else ("replicas", index)

    def is_remote(self, lfn: str) -> bool:
        """Whether each replica of ``lfn`` is on another host, as of http or scp."""
        known = self.replicas.get(lfn, ())
        return bool(known) and all(local_path(each.pfn) is None for each in known)

    def checksum(self, lfn: str) -> str:
        """What every replica of ``lfn`` must have; empty if none is declared."""
        known = self.replicas.get(lfn, ())
        return next((each.checksum for each in known if each.checksum), "")

    def with_directory(self, folder: Path) -> ReplicaCatalog:
        """These replicas, preceded by every file below ``folder`` (--input-dir), which
        need not exist."""
        files = {
            str(file.relative_to(folder)): str(file.resolve())
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
        entries = list(_entries_with(self.document.data.get("replicas") or (), files))
        data = {**self.document.data, "replicas": entries}
        return read_replicas(self.document.with_data(data))


@dataclass(frozen=True)
class Catalogs:
    """The inputs of a planning apart from the workflow."""

    properties: Properties
    sites: SiteCatalog
    replicas: ReplicaCatalog
    transformations: TransformationCatalog
    tiers: dict[str, list[Tier]]  # by site
    # The file of TIERS, and that of SPEEDS, if there are any.
    storage: Mapping[str, Document] = field(default_factory=dict)

    @property
    def documents(self) -> dict[str, Document]:
        """The document of each kind, as in ``SOURCES``."""
        return {
            "site": self.sites.document,
            "replica": self.replicas.document,
            "transformation": self.transformations.document,
        }

    @property
    def integrity_checking(self) -> str:
        """Which files Pegasus checks by their checksums: full, nosymlink or none."""
        key = "pegasus.integrity.checking"
        return self.properties.get(key, "full").strip().lower()

    def storage_document(self, key: str) -> Document:
        """The file of ``key``; where nothing has it, the site catalog, to add it."""
        return self.storage.get(key, self.sites.document)

    def tier_entry(self, tier: Tier) -> Entry:
        names = [known.name for known in self.tiers[tier.site]]
        document = self.storage_document(TIERS)
        return document.entry(TIERS, tier.site, names.index(tier.name))

    def link_target(self, site: str, lfn: str) -> str | None:
        """The path of the first replica on ``site`` that has one, or None."""
        for replica in self.replicas.replicas.get(lfn, ()):
            path = local_path(replica.pfn) if replica.site == site else None
            if path is not None:
                return path
        return None

    def is_linked(self, site: str, lfn: str) -> bool:
        """Whether a run on the PFS links this input instead of copying it."""
        wanted = self.properties.flag("pegasus.transfer.links", default=False)
        return wanted and self.link_target(site, lfn) is not None


def load_inputs(
    workflow_file: Path,
    properties: Properties,
    cwd: Path,
    input_dirs: Sequence[Path] = (),
    *,
    named: Collection[str] = (),
    folder_of_sites: Path | None = None,
    program_dirs: Sequence[Path] = (),
) -> tuple[Document, Catalogs]:
    """The document of the abstract workflow, and its catalogs. Sites that are ``named``
    by options exist if Pegasus would make them, in ``folder_of_sites``. Raises
    CatalogError and UsageError."""
    variables = environment(properties)
    workflow = load(workflow_file, variables)
    documents = {
        kind: catalog_document(kind, workflow, properties, cwd, variables)
        for kind in SOURCES
    }
    programs = _programs(documents["transformation"], program_dirs)
    documents["site"] = _completed(documents["site"], properties, cwd)
    storage = _storage(documents["site"], workflow_file, properties, cwd)
    sites, tiers = _sites_and_tiers(
        documents["site"], storage, folder_of_sites or cwd, named
    )
    replicas = read_replicas(_with_matches(documents["replica"], workflow))
    for folder in reversed(input_dirs):
        replicas = replicas.with_directory(folder)
    return workflow, Catalogs(
        properties,
        sites,
        replicas,
        read_programs(programs, properties),
        tiers,
        storage,
    )


def _with_matches(document: Document, workflow: Document) -> Document:
    """Replicas with an entry for each file that a pattern names. Raises
    CatalogError."""
    known = document.data.get("replicas") or ()
    if not any(isinstance(each, dict) and each.get("regex") for each in known):
        return document
    from pegasus_bb.model.replica_patterns import with_matches  # few catalogs have some

    return with_matches(document, workflow)


def read_programs(
    document: Document, properties: Mapping[str, str]
) -> TransformationCatalog:
    """The typed view of ``document``, for the mapper of ``properties``. Raises
    CatalogError."""
    catalog = read_transformations(document)
    if MAPPER not in properties:
        return catalog
    from pegasus_bb.model.transformation_mapper import mapped  # few plans name one

    return mapped(catalog, properties)


def _programs(document: Document, folders: Sequence[Path]) -> Document:
    """The transformation catalog with the programs of ``folders``. Raises CatalogError
    if there is neither."""
    if folders:
        return with_programs(document, folders)
    if not document.text:
        key = "pegasus.catalog.transformation.file"
        raise CatalogError(
            "there is no transformation catalog",
            file=str(document.path),
            key=key,
            would_do=f"put {document.path.name} there, or say -D{key}=FILE",
        )
    return document


def site_document(workflow: Document, properties: Properties, cwd: Path) -> Document:
    """The site catalog for ``workflow`` as the user has it. Raises CatalogError."""
    sites = catalog_document("site", workflow, properties, cwd, environment(properties))
    return _completed(sites, properties, cwd)


def declared_tiers(
    workflow_file: Path, properties: Properties, cwd: Path
) -> dict[str, list[Tier]]:
    """Tiers by site, without those of a catalog inside the workflow, which is not read.
    Raises CatalogError."""
    sites = site_document(Document(workflow_file, {}), properties, cwd)
    storage = _storage(sites, workflow_file, properties, cwd)
    return _sites_and_tiers(sites, storage, cwd)[1]


def _completed(sites: Document, properties: Properties, cwd: Path) -> Document:
    """``sites`` with what properties say of sites. Raises CatalogError."""
    if REPOSITORY in properties:
        from pegasus_bb.model.sites_by_property import with_repository  # few have one

        file = cwd / properties[REPOSITORY]
        sites = with_repository(sites, file, environment(properties))
    if any(key.startswith(_OF_SITES) for key in properties):
        from pegasus_bb.model.sites_by_property import with_site_properties

        sites = with_site_properties(sites, properties)
    return sites


def _sites_and_tiers(
    document: Document,
    storage: Mapping[str, Document],
    folder: Path,
    named: Collection[str] = (),
) -> tuple[SiteCatalog, dict[str, list[Tier]]]:
    """A site that a tier is for is named as well."""
    of_tiers = storage.get(TIERS, Document(folder, {}))
    with_tiers = of_tiers.data.get(TIERS)
    with_tiers = with_tiers if isinstance(with_tiers, dict) else {}
    named = {*named, *with_tiers}
    sites = read_sites(with_default_sites(document, folder, named))
    return sites, read_tiers(of_tiers, sites.sites)


def _storage(
    sites: Document, workflow_file: Path, properties: Properties, cwd: Path
) -> Mapping[str, Document]:
    """The document that has our tiers, and the one that has our speeds. Raises
    CatalogError."""
    keys = (TIERS, SPEEDS)
    named = properties.get(TIERS_FILE)
    file = cwd / named if named else workflow_file.with_name(STORAGE_FILE)
    if not (named or is_file(file)):
        return {key: sites for key in keys if key in sites.data}
    from pegasus_bb.model.storage_file import documents_of  # most tiers are of a site

    own = load(file, environment(properties))
    _check_ours(own)
    return documents_of(sites, own, keys, is_named=bool(named))


def read_sites(document: Document) -> SiteCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    if not isinstance(document.data.get("sites"), list):
        raise document.error(
            "a site catalog needs a list of sites",
            ["sites"],
            "",
            "sites: [{name: ...}]",
        )
    _check_ours(document)
    sites: dict[str, Site] = {}
    for index, entry in enumerate(document.entry().entries("sites", "a site", "name")):
        site = _read_site(entry, index)
        if site.name in sites:
            raise entry.below("name").error(
                "two sites have one name", would_do="another name, or one entry"
            )
        sites[site.name] = site
    return SiteCatalog(document, sites)


def _check_ours(document: Document) -> None:
    """Refuse a slip in a key of ours: Pegasus passes over all that begin with x-."""
    for key in map(str, document.data):
        close = get_close_matches(key, (TIERS, SPEEDS), 1, cutoff=0.8)
        if close and key not in (TIERS, SPEEDS):
            what = "a site catalog has no such key"
            hint = f"did you mean {close[0]}?"
            raise document.error(what, [key], key, hint)


def _check_url(entry: Entry) -> None:
    """Refuse a slip in the scheme of a file server's URL."""
    scheme, sign, _ = str(entry.data.get("url", "")).partition("://")
    close = get_close_matches(scheme, _SCHEMES, 1, cutoff=0.8)
    if sign and close and scheme not in _SCHEMES:
        raise entry.below("url").error(
            "a file server's URL has no such scheme",
            would_do=f"did you mean {close[0]}://?",
        )


def _read_site(entry: Entry, index: int) -> Site:
    directories = []
    entry.check_keys(_OF_A_SITE, "a site")
    entry.entries("grids", "a grid")
    for place, each in enumerate(entry.entries("directories", "a directory", "path")):
        each.check_keys(_OF_A_DIRECTORY, "a directory of a site")
        for server in each.entries("fileServers", "a file server"):
            server.check_keys(_OF_A_SERVER, "a file server")
            _check_url(server)
        kind = str(each.data.get("type", ""))
        path = str(each.data["path"])
        directories.append(Directory(kind, path, place))
    name = str(entry.data["name"])
    profiles = entry.profiles()
    return Site(name, tuple(directories), profiles, entry.data, index)


def read_replicas(document: Document) -> ReplicaCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    replicas: dict[str, list[Replica]] = {}
    for entry in document.entry().entries("replicas", "a replica", "lfn"):
        lfn = str(entry.data["lfn"])
        entry.check_keys(_OF_A_REPLICA, "a replica")
        if "regex" in entry.data and entry.flag("regex", default=False):
            continue  # each file that it names has an entry: replica_patterns
        declared = entry.mapping("metadata").get("size")
        size = None
        if declared is not None:
            size = entry.below("metadata", "size").size("a file's size: ")
        checksum = entry.checksum()
        for pfn in entry.entries("pfns", "a replica", "pfn"):
            pfn.check_keys(_OF_A_PFN, "a place of a replica")
            site = str(pfn.data.get("site", "local"))
            replica = Replica(lfn, str(pfn.data["pfn"]), site, size, checksum)
            replicas.setdefault(lfn, []).append(replica)
    return ReplicaCatalog(document, replicas)


def _entries_with(known: Iterable[Data], files: dict[str, str]) -> Iterator[Data]:
    new = {lfn: [{"site": "local", "pfn": pfn}] for lfn, pfn in files.items()}
    for entry in known:
        first = new.pop(str(entry["lfn"]), [])
        yield {**entry, "pfns": [*first, *(entry.get("pfns") or ())]}
    yield from ({"lfn": lfn, "pfns": pfns} for lfn, pfns in new.items())
