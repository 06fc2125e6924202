"""The image of a container: what its program pulls, a file that nodes have, or a file
that is staged like an input."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegasus_bb.core.paths import local_path
from pegasus_bb.model.document import Entry

# Container type -> URL schemes that its program pulls, and how that names them.
KINDS = {
    "singularity": {
        scheme: f"{scheme}://" for scheme in ("docker", "library", "oras", "shub")
    },
    "docker": {"docker": ""},
    "shifter": {"docker": "docker:", "shifter": ""},
}
# Container type -> the suffix of an image file whose name has none. Shifter has none.
_FILES = {"singularity": ".sif", "docker": ".tar"}
_SUFFIX = re.compile(r"\.(?:sif|s?img|tgz|tar(?:\.(?:gz|bz2|xz))?)$")
_FETCHED = (
    *("http", "https", "ftp", "scp", "sftp", "gsiftp", "s3", "s3s", "gs", "irods"),
    *("stash", "osdf", "pelican", "webdav", "webdavs", "go"),
)
_URL = re.compile(r"([a-z][a-z0-9+.-]*):/*(.*)", re.DOTALL)
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, slots=True)
class StagedImage:
    """An image file that a transfer brings into the folder of the run."""

    lfn: str
    site: str
    pfn: str
    size: int | None = None  # bytes, if the catalog says
    checksum: str = ""  # sha256:..., if the catalog says


def image_of(entry: Entry, kind: str, site: str) -> str | StagedImage:
    """The image of a container of ``kind``: how its program on the nodes of ``site``
    names it, or the file to stage. Raises CatalogError if no job can start it."""
    image = str(entry.data.get("image", ""))
    url = _URL.fullmatch(image)
    scheme, rest = (url[1], url[2]) if url else ("", "")
    if scheme in KINDS[kind] and _IMAGE.fullmatch(rest):
        return KINDS[kind][scheme] + rest
    path = local_path(image)
    if kind not in _FILES or (path is None and scheme not in _FETCHED):
        raise entry.below("image").error(
            f"a job cannot start this image: {kind} does not find it by that name, and "
            "it is no file to stage",
            image,
            _would_do(kind, site),
        )
    on = str(entry.data.get("image.site") or (site if path else "web"))
    if path is not None and on == site:
        return path
    if path is not None and on != "local":
        raise entry.below("image.site").error(
            f"no job of site {site} can read an image file of another site",
            on,
            f"copy the image to a folder that the nodes of {site} see, and say "
            f"image.site: {site}",
        )
    return _staged(entry, kind, on, image if path is None else f"file://{path}")


def _staged(entry: Entry, kind: str, site: str, pfn: str) -> StagedImage:
    name = str(entry.data["name"])
    if _NAME.fullmatch(name) is None:
        raise entry.below("name").error(
            "the image is staged under the name of its container, which must be that "
            "of a file",
            repr(name),
            "letters, digits and . _ + -",
        )
    suffix = _SUFFIX.search(re.split(r"[?#]", pfn, maxsplit=1)[0])
    lfn = name + (suffix[0] if suffix else _FILES[kind])
    size = None
    if "size" in entry.mapping("metadata"):
        size = entry.below("metadata", "size").size("its size: ")
    return StagedImage(lfn, site, pfn, size, entry.checksum())


def _would_do(kind: str, site: str) -> str:
    names = ", ".join(f"{scheme}://NAME" for scheme in KINDS[kind])
    if kind not in _FILES:
        return names
    example = f"IMAGE{_FILES[kind]}"
    return (
        f"{names}, or a file: https://HOST/{example}, or file:///FOLDER/{example} "
        f"with image.site: local, or {site} for a folder that its nodes see"
    )
