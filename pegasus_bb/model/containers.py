"""The containers of a transformation catalog, checked: what a job needs to start one.

An image is named so that the container's own program finds it on the compute node: a
registry's name, or a file of a folder that the nodes see. Nothing stages images.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from pegasus_bb.model.document import Document, Key
from pegasus_bb.model.parse import plain
from pegasus_bb.model.replicas import local_path
from pegasus_bb.model.shape import list_under, profiles_under
from pegasus_bb.model.transformations import TransformationCatalog

# Of each type, the schemes that its program pulls by itself, and how it names them.
_PULLED = {
    "singularity": {
        scheme: f"{scheme}://" for scheme in ("docker", "library", "oras", "shub")
    },
    "docker": {"docker": ""},
    "shifter": {"docker": "docker:", "shifter": ""},
}
_URL = re.compile(r"([a-z][a-z0-9+.-]*):/*(.*)", re.DOTALL)
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ARGUMENTS = "container.arguments"


def containers_for(
    catalog: TransformationCatalog, names: Iterable[str], site: str
) -> dict[str, dict[str, Any]]:
    """Transformation -> its container on ``site``, as JSON has it; most have none.

    Raises CatalogError where a container cannot be started there.
    """
    used: dict[str, str] = {}
    for name in names:
        program = catalog.executable(name, site)
        if program is not None and program.container:
            used[name] = program.container
    if not used:
        return {}
    known = {name: _read(catalog.document, name, site) for name in set(used.values())}
    return {
        name: {**known[container], "arguments": _arguments(catalog, name, site, known)}
        for name, container in used.items()
    }


def _arguments(
    catalog: TransformationCatalog,
    name: str,
    site: str,
    known: dict[str, dict[str, Any]],
) -> list[str]:
    """A transformation's own arguments replace its container's, as in Pegasus."""
    program = catalog.executable(name, site)
    assert program is not None  # noqa: S101 - only programs have containers
    pegasus = {
        **catalog.transformations[name].profiles.get("pegasus", {}),
        **program.profiles.get("pegasus", {}),
    }
    if _ARGUMENTS in pegasus:
        return _split(catalog.document, pegasus[_ARGUMENTS], ["transformations"])
    own: list[str] = known[program.container]["arguments"]
    return own


def _read(document: Document, name: str, site: str) -> dict[str, Any]:
    entries = document.data.get("containers") or []
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and entry.get("name") == name:
            return _entry(document, entry, ["containers", index], site)
    raise document.error(
        "a transformation names a container that the catalog does not have",
        ["containers"],
        name,
        "add the container, or correct the name",
    )


def _entry(
    document: Document, entry: dict[str, Any], at: list[Key], site: str
) -> dict[str, Any]:
    kind = str(entry.get("type", ""))
    if kind not in _PULLED:
        would_do = f"type: {', '.join(_PULLED)}"
        raise document.error(
            "no program is known for containers of this type",
            [*at, "type"],
            kind,
            would_do,
        )
    profiles = profiles_under(document, entry, at)
    pegasus = profiles.get("pegasus", {})
    return {
        "type": kind,
        "image": _image(document, entry, at, site),
        "mounts": [
            _mount(document, mount, [*at, "mounts", place])
            for place, mount in enumerate(list_under(document, entry, "mounts", at))
        ],
        "arguments": _split(document, pegasus.get(_ARGUMENTS, ""), at),
        "env": {
            _variable(document, key, at): plain(value)
            for key, value in profiles.get("env", {}).items()
        },
    }


def _image(document: Document, entry: dict[str, Any], at: list[Key], site: str) -> str:
    image, kind = str(entry.get("image", "")), str(entry["type"])
    where = str(entry.get("image.site") or site)
    is_file = image.startswith(("/", "file://"))
    if is_file and kind == "singularity":
        if where in (site, "local"):
            return str(local_path(image))
        raise document.error(
            f"no job of site {site} can read an image file of another site",
            [*at, "image.site"],
            where,
            f"copy the image to a folder that the nodes of {site} see, and say "
            f"image.site: {site}",
        )
    url = _URL.fullmatch(image)
    scheme, rest = (url[1], url[2]) if url else ("", "")
    if scheme in _PULLED[kind] and _IMAGE.fullmatch(rest):
        return _PULLED[kind][scheme] + rest
    raise document.error(
        f"a job cannot start this image: {kind} does not find it by that name, and "
        "nothing fetches images for it",
        [*at, "image"],
        image,
        _would_do(kind, site),
    )


def _would_do(kind: str, site: str) -> str:
    names = ", ".join(f"{scheme}://NAME" for scheme in _PULLED[kind])
    if kind == "singularity":
        return (
            f"{names}, or file:///FOLDER/IMAGE.sif of a folder that the nodes of "
            f"{site} see (apptainer pull makes one)"
        )
    return names


def _mount(document: Document, mount: object, at: Sequence[Key]) -> str:
    parts = mount.split(":") if isinstance(mount, str) else []
    clean = isinstance(mount, str) and not re.search(r"[,;\x00-\x1f]", mount)
    paths = [part.rstrip("/") or "/" for part in parts[:2]]
    if not clean or len(paths) < 2 or not all(p.startswith("/") for p in paths):
        raise document.error(
            "a mount of a container is SOURCE:TARGET or SOURCE:TARGET:OPTIONS, both "
            "full paths without , and ;",
            at,
            repr(mount),
            "/data:/data:ro",
        )
    return ":".join([*paths, *parts[2:]])


def _split(document: Document, text: object, at: Sequence[Key]) -> list[str]:
    try:
        return shlex.split(plain(text))
    except ValueError as error:
        raise document.error(
            f"the arguments of a container are not words of a shell: {error}",
            [*at, "profiles", "pegasus", _ARGUMENTS],
            repr(text),
            "close the quote",
        ) from error


def _variable(document: Document, name: object, at: Sequence[Key]) -> str:
    if not isinstance(name, str) or _VARIABLE.fullmatch(name) is None:
        raise document.error(
            "this is no name of an environment variable",
            [*at, "profiles", "env"],
            repr(name),
            "letters, digits and _",
        )
    return name
