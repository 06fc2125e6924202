"""The containers of a transformation catalog, as the launcher starts them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

from pegasus_bb.model.document import Document, Entry, plain
from pegasus_bb.model.images import KINDS, StagedImage, image_of
from pegasus_bb.model.transformations import Executable, TransformationCatalog

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
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ARGUMENTS = "container.arguments"


def staged_image(
    catalog: TransformationCatalog, program: Executable, site: str
) -> StagedImage | None:
    """The image that ``program`` needs in the scratch of ``site``, if it runs in one
    that nodes do not have. Raises CatalogError if no job can start it."""
    if not program.container:
        return None
    image = _image(_entry(catalog.document, program.container), site)
    return image if isinstance(image, StagedImage) else None


def containers_for(
    catalog: TransformationCatalog, names: Iterable[str], site: str, scratch: str = ""
) -> dict[str, dict[str, Any]]:
    """Transformation -> its container on ``site``, as JSON. Those without one are left
    out. ``scratch``: the folder with the images that are staged.

    Raises CatalogError if a container cannot be started there.
    """
    programs = {name: catalog.executable(name, site) for name in names}
    used = {name: each for name, each in programs.items() if each and each.container}
    known: dict[str, dict[str, Any]] = {}
    for program in used.values():
        if program.container not in known:
            name = program.container
            entry = _entry(catalog.document, name)
            known[name] = _read_container(entry, site, scratch)
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


def _entry(document: Document, name: str) -> Entry:
    for index, data in enumerate(document.entry().items("containers")):
        if isinstance(data, dict) and data.get("name") == name:
            return document.entry("containers", index)
    raise document.error(
        "a transformation names a container that the catalog does not have",
        ["containers"],
        name,
        "add the container, or correct the name",
    )


def _image(entry: Entry, site: str) -> str | StagedImage:
    kind = str(entry.data.get("type", ""))
    entry.check_keys(_OF_A_CONTAINER, "a container")
    if kind not in KINDS:
        raise entry.below("type").error(
            "no program is known for containers of this type",
            kind,
            f"type: {', '.join(KINDS)}",
        )
    return image_of(entry, kind, site)


def _read_container(entry: Entry, site: str, scratch: str) -> dict[str, Any]:
    image = _image(entry, site)
    if isinstance(image, StagedImage):
        image = f"{scratch}/{image.lfn}"
    profiles = entry.profiles()
    mounts = range(len(entry.items("mounts")))
    return {
        "type": str(entry.data["type"]),
        "image": image,
        "mounts": [_mount(entry.below("mounts", index)) for index in mounts],
        "arguments": _words(entry, profiles.get("pegasus", {}).get(_ARGUMENTS, "")),
        "env": {
            _variable(entry, key): plain(value)
            for key, value in profiles.get("env", {}).items()
        },
    }


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
