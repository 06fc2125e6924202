"""Paths as text: nothing here looks at a disk."""

from __future__ import annotations

import os

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the path of a node-local disk may take from the environment of a job: variables
# that batch systems set, and whose values are whole paths, or one name.
PATH_VARIABLES = (
    "TMPDIR",
    "SLURM_TMPDIR",
    "LOCAL_SCRATCH",
    "PBS_JOBFS",
    "_CONDOR_SCRATCH_DIR",
)
NAME_VARIABLES = (
    "USER",
    "SLURM_JOB_ID",
    "SLURM_JOB_USER",
    "PBS_JOBID",
    "LSB_JOBID",
    "JOB_ID",
)
_VARIABLE = r"\$([A-Za-z_][A-Za-z0-9_]*)"
_ONE_NAME = r"(?!\.\.?$)[A-Za-z0-9_.@+:\[\]-]+"
_LONGEST = 255 - 30  # bytes of a name, where more is to be added to it


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is inside ``folder``, both without `..` and links."""
    inside = folder.rstrip("/") + "/"
    return bool(folder) and path.startswith(inside) and path != inside


def plain_path(path: str) -> str:
    """A full path without `/./`; `..` stays, for the caller to check."""
    full = path if path.startswith("/") else os.path.join(os.getcwd(), path)
    return "/" + "/".join(part for part in full.split("/") if part not in ("", "."))


def is_long(name: str) -> bool:
    """Whether ``name`` is too long to stand in a temporary name."""
    # Four bytes are the most that a character takes.
    return len(name) > _LONGEST // 4 and len(os.fsencode(name)) > _LONGEST


def cut_name(dest: str) -> bytes:
    """The name of ``dest`` as it stands in a temporary one; no two have the same."""
    name = os.fsencode(os.path.basename(dest))
    if len(name) <= _LONGEST:
        return name
    import hashlib  # names are seldom that long

    digest = hashlib.sha256(name).hexdigest()[:16]
    return name[: _LONGEST - 17] + b"~" + digest.encode()


def node_path_fault(path: str) -> str:
    """Why ``path`` can be no place on a node's own disk, whatever the variables of a
    job are; empty where it can."""
    import re  # 5 ms that most jobs do not pay

    names = re.findall(_VARIABLE, path)
    for name in names:
        if name not in PATH_VARIABLES + NAME_VARIABLES:
            return f"${name} is no variable that it may name"
    if "$" in re.sub(_VARIABLE, "", path):
        return "a $ without the name of a variable"
    begins = path.startswith(tuple(f"${name}" for name in PATH_VARIABLES))
    if not begins and not path.startswith("/"):
        return "no full path: it begins with neither / nor a variable that is a path"
    for name in names[1:] if begins else names:
        if name in PATH_VARIABLES:
            return f"${name} is a whole path, which can only come first"
    if _is_odd(path):
        return "quotes, backslashes, control characters and .. cannot be carried"
    return ""


def node_path(path: str, environ: Mapping[str, str]) -> str:
    """``path`` with the variables of this job in it. Raises ValueError."""

    import re

    def value(match: re.Match[str]) -> str:
        name = match[1]
        text = environ.get(name, "")
        if not text:
            raise ValueError(f"${name} is not set in this job")
        full = text.startswith("/") and not _is_odd(text)
        if not (full if name in PATH_VARIABLES else re.fullmatch(_ONE_NAME, text)):
            raise ValueError(f"${name} is {text!r} in this job: no use in a path")
        return text

    fault = node_path_fault(path)
    if fault:
        raise ValueError(fault)
    return plain_path(re.sub(_VARIABLE, value, path))


def _is_odd(path: str) -> bool:
    return ".." in path.split("/") or any(c < " " or c in "\"\\'" for c in path)


def local_path(pfn: str) -> str | None:
    """The path of a PFN that is a full path or a file URL; None for any other PFN. A
    file URL may have one slash (RFC 8089), as those of Java's File.toURI()."""
    if pfn.startswith("/"):
        return pfn
    scheme, _, rest = pfn.partition(":")
    if scheme.lower() != "file" or not rest.startswith("/"):
        return None
    return "/" + rest[2:].partition("/")[2] if rest.startswith("//") else rest
