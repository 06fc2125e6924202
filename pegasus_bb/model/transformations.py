"""The transformation catalog: the program of a transformation on each site, and the
container that it runs in.

An image has to be available on the compute node: by its name in a registry, or as a
file in a folder that the nodes see. Nothing stages images.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.paths import local_path
from pegasus_bb.model.document import Data, Document, Entry, Key, plain

# Container type -> URL schemes that its program pulls, and how that names them.
_PULLED = {
    "singularity": {
        scheme: f"{scheme}://" for scheme in ("docker", "library", "oras", "shub")
    },
    "docker": {"docker": ""},
    "shifter": {"docker": "docker:", "shifter": ""},
}
OS = ("os.type", "os.release", "os.version")
# Any other key is a mistake, but for extensions (x-): pegasus-plan refuses it as well.
_OF_A_TRANSFORMATION = (
    "namespace",
    "name",
    "version",
    "sites",
    "profiles",
    "requires",
    "hooks",
    "metadata",
    "checksum",
)
_OF_A_PROGRAM = (
    "name",
    "pfn",
    "type",
    "container",
    "profiles",
    "arch",
    *OS,
    "bypass",
    "metadata",
)
_OF_A_CONTAINER = (
    "name",
    "type",
    "image",
    "image.site",
    "mounts",
    "profiles",
    "bypass",
    "checksum",
    "metadata",
    "dockerfile",
)
_URL = re.compile(r"([a-z][a-z0-9+.-]*):/*(.*)", re.DOTALL)
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ARGUMENTS = "container.arguments"


@dataclass(frozen=True, slots=True)
class Executable:
    site: str
    pfn: str
    kind: str  # installed | stageable
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    container: str = ""  # its name in the catalog; empty: none


@dataclass(frozen=True)
class Transformation:
    """A program on all its sites; ``data`` is its whole entry in the catalog."""

    namespace: str
    name: str
    version: str
    executables: tuple[Executable, ...]
    profiles: Mapping[str, Mapping[str, Any]]
    requires: tuple[str, ...]
    data: Data

    @property
    def full_name(self) -> str:
        return full_name(self.namespace, self.name, self.version)


def full_name(namespace: str, name: str, version: str) -> str:
    space = f"{namespace}::" if namespace else ""
    return f"{space}{name}" + (f":{version}" if version else "")


@dataclass(frozen=True)
class TransformationCatalog:
    document: Document
    transformations: dict[str, Transformation]

    def error(
        self, name: str, what: str, found: object = "", would_do: str = ""
    ) -> CatalogError:
        """An error about the transformation of full ``name``, with its line."""
        at = next(self.places(name), ("transformations",))
        return self.document.error(what, at, found, would_do)

    def places(self, name: str, site: str = "") -> Iterator[tuple[Key, ...]]:
        """The keys of the entries of full ``name``, those of ``site`` before."""
        for index, data in enumerate(self.document.data.get("transformations") or ()):
            parts = (str(data.get(key, "")) for key in ("namespace", "name", "version"))
            if full_name(*parts) != name:
                continue
            for place, program in enumerate(data.get("sites") or () if site else ()):
                if program["name"] == site:
                    yield "transformations", index, "sites", place
            yield "transformations", index

    def executable(self, full_name: str, site: str) -> Executable | None:
        """The program on ``site``, installed before stageable; else one that can be
        staged from another site; else None."""
        transformation = self.transformations.get(full_name)
        if transformation is None:
            return None
        executables = transformation.executables
        here = [e for e in executables if e.site == site]
        installed = [e for e in here if e.kind == "installed"]
        stageable = [e for e in executables if e.kind == "stageable"]
        own = [e for e in here if e.kind == "stageable"]
        return next(iter([*installed, *own, *stageable]), None)


def read_transformations(document: Document) -> TransformationCatalog:
    """The typed view of ``document``. Raises CatalogError."""
    by_name: dict[str, Transformation] = {}
    for entry in document.entry().entries(
        "transformations", "a transformation", "name"
    ):
        transformation = _transformation(entry)
        known = by_name.get(transformation.full_name)
        by_name[transformation.full_name] = _merged(known, transformation)
    return TransformationCatalog(document, by_name)


def _merged(known: Transformation | None, more: Transformation) -> Transformation:
    if known is None:
        return more
    return replace(
        known,
        executables=known.executables + more.executables,
        requires=tuple(dict.fromkeys(known.requires + more.requires)),
    )


def _transformation(entry: Entry) -> Transformation:
    data = entry.data
    entry.check_keys(_OF_A_TRANSFORMATION, "a transformation")
    sites = entry.entries("sites", "a site of a transformation", "name", "pfn")
    return Transformation(
        namespace=str(data.get("namespace", "")),
        name=str(data["name"]),
        version=str(data.get("version", "")),
        executables=tuple(map(_executable, sites)),
        profiles=entry.profiles(),
        requires=tuple(map(str, entry.items("requires"))),
        data=data,
    )


def _executable(entry: Entry) -> Executable:
    site = entry.data
    entry.check_keys(_OF_A_PROGRAM, "a site of a transformation")
    kind = site.get("type", "installed")
    container = site.get("container") or ""
    return Executable(
        str(site["name"]),
        str(site["pfn"]),
        str(kind),
        entry.profiles(),
        str(container),
    )


def containers_for(
    catalog: TransformationCatalog, names: Iterable[str], site: str
) -> dict[str, dict[str, Any]]:
    """Transformation -> its container on ``site``, as JSON. Those without one are left
    out.

    Raises CatalogError if a container cannot be started there.
    """
    programs = {name: catalog.executable(name, site) for name in names}
    used = {name: each for name, each in programs.items() if each and each.container}
    if not used:
        return {}
    known: dict[str, dict[str, Any]] = {}
    for program in used.values():
        if program.container not in known:
            name = program.container
            known[name] = _container(catalog.document, name, site)
    by_name = {}
    for name, program in used.items():
        container = known[program.container]
        # A transformation's own arguments replace its container's, as in Pegasus.
        own = {
            **catalog.transformations[name].profiles.get("pegasus", {}),
            **program.profiles.get("pegasus", {}),
        }
        if _ARGUMENTS in own:
            entry = catalog.document.entry("transformations")
            container = {**container, "arguments": _words(entry, own[_ARGUMENTS])}
        by_name[name] = container
    return by_name


def _container(document: Document, name: str, site: str) -> dict[str, Any]:
    for index, data in enumerate(document.entry().items("containers")):
        if isinstance(data, dict) and data.get("name") == name:
            return _read_container(document.entry("containers", index), site)
    raise document.error(
        "a transformation names a container that the catalog does not have",
        ["containers"],
        name,
        "add the container, or correct the name",
    )


def _read_container(entry: Entry, site: str) -> dict[str, Any]:
    kind = str(entry.data.get("type", ""))
    entry.check_keys(_OF_A_CONTAINER, "a container")
    if kind not in _PULLED:
        raise entry.below("type").error(
            "no program is known for containers of this type",
            kind,
            f"type: {', '.join(_PULLED)}",
        )
    profiles = entry.profiles()
    mounts = range(len(entry.items("mounts")))
    return {
        "type": kind,
        "image": _image(entry, kind, site),
        "mounts": [_mount(entry.below("mounts", index)) for index in mounts],
        "arguments": _words(entry, profiles.get("pegasus", {}).get(_ARGUMENTS, "")),
        "env": {
            _variable(entry, key): plain(value)
            for key, value in profiles.get("env", {}).items()
        },
    }


def _image(entry: Entry, kind: str, site: str) -> str:
    image = str(entry.data.get("image", ""))
    on = str(entry.data.get("image.site") or site)
    path = local_path(image)
    if kind == "singularity" and path is not None:
        if on in (site, "local"):
            return path
        raise entry.below("image.site").error(
            f"no job of site {site} can read an image file of another site",
            on,
            f"copy the image to a folder that the nodes of {site} see, and say "
            f"image.site: {site}",
        )
    url = _URL.fullmatch(image)
    scheme, rest = (url[1], url[2]) if url else ("", "")
    if scheme in _PULLED[kind] and _IMAGE.fullmatch(rest):
        return _PULLED[kind][scheme] + rest
    names = ", ".join(f"{scheme}://NAME" for scheme in _PULLED[kind])
    if kind == "singularity":
        names += (
            ", or file:///FOLDER/IMAGE.sif of a folder that the nodes of "
            f"{site} see (apptainer pull makes one)"
        )
    raise entry.below("image").error(
        f"a job cannot start this image: {kind} does not find it by that name, and "
        "nothing fetches images for it",
        image,
        names,
    )


def _mount(entry: Entry) -> str:
    mount = entry.data
    parts = mount.split(":") if isinstance(mount, str) else []
    clean = isinstance(mount, str) and not re.search(r"[,;\x00-\x1f]", mount)
    paths = [part.rstrip("/") or "/" for part in parts[:2]]
    if not clean or len(paths) < 2 or not all(p.startswith("/") for p in paths):
        raise entry.error(
            "a mount of a container is SOURCE:TARGET or SOURCE:TARGET:OPTIONS, both "
            "full paths without , and ;",
            repr(mount),
            "/data:/data:ro",
        )
    return ":".join([*paths, *parts[2:]])


def _words(entry: Entry, text: object) -> list[str]:
    try:
        return shlex.split(plain(text))
    except ValueError as error:
        raise entry.document.error(
            f"the arguments of a container are not words of a shell: {error}",
            [*entry.at, "profiles", "pegasus", _ARGUMENTS],
            repr(text),
            "close the quote",
        ) from error


def _variable(entry: Entry, name: object) -> str:
    if not isinstance(name, str) or _VARIABLE.fullmatch(name) is None:
        raise entry.below("profiles", "env").error(
            "this is no name of an environment variable",
            repr(name),
            "letters, digits and _",
        )
    return name
