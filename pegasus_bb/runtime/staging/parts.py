"""Temporary names of copies that are not complete."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pegasus_bb.core.paths import cut_name, is_long

_TAG = re.compile(r"[0-9]{1,20}\.[0-9a-f]{6}", re.ASCII)
_PART = re.compile(rb"\.(.*)\.([0-9]+)\.[0-9a-f]{6}\.part", re.DOTALL)


def new_tag() -> str:
    """A unique tag for the temporary files of one try."""
    return f"{os.getpid()}.{os.urandom(3).hex()}"


def is_tag(text: object) -> bool:
    """Whether ``text`` is a tag of ``new_tag``: only such names may be removed."""
    return isinstance(text, str) and bool(_TAG.fullmatch(text))


def part_of(name: str, tag: str) -> str:
    """The temporary name of file ``name``, shortened if that is too long."""
    if is_long(name):
        name = os.fsdecode(cut_name(name))
    return f".{name}.{tag}.part"


def part_name(dest: str) -> str:
    folder, name = os.path.split(dest)
    return os.path.join(folder, part_of(name, new_tag()))


def path_of_copy(part: int) -> str:
    """The path that the open temporary file ``part`` will have, for messages."""
    folder, name = os.path.split(os.readlink(f"/proc/self/fd/{part}"))
    match = _PART.fullmatch(os.fsencode(name))
    return os.path.join(folder, os.fsdecode(match.group(1)) if match else name)


def remove_parts(folder: int, name: str, tags: Sequence[str]) -> None:
    """Remove temporary files of ``name`` by the tries of ``tags`` from an open
    folder."""
    for tag in tags:
        try:
            os.unlink(part_of(name, tag), dir_fd=folder)
        except OSError:  # usually there is none
            pass


def parts_in(folder: str) -> dict[bytes, list[str]]:
    """Temporary files of killed copies in ``folder``: (shortened) name -> paths."""
    parts: dict[bytes, list[str]] = {}
    own = str(os.getpid()).encode()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = _PART.fullmatch(os.fsencode(entry.name))
                if match and match.group(2) != own:
                    parts.setdefault(match.group(1), []).append(entry.path)
    except FileNotFoundError:
        pass
    return parts
