"""Temporary names: what a copy is called until it is whole."""

from __future__ import annotations

import os
import re
from typing import Dict, List, Sequence

from pegasus_bb.paths import cut_name, is_long

_TAG = re.compile(r"[0-9]{1,20}\.[0-9a-f]{6}", re.ASCII)
_PART = re.compile(rb"\.(.*)\.([0-9]+)\.[0-9a-f]{6}\.part", re.DOTALL)


def new_tag() -> str:
    """What makes the parts of one try differ from those of all others."""
    return f"{os.getpid()}.{os.urandom(3).hex()}"


def is_tag(text: object) -> bool:
    """Whether ``new_tag`` can have made it: nothing else may name a file to remove."""
    return isinstance(text, str) and bool(_TAG.fullmatch(text))


def part_of(name: str, tag: str) -> str:
    """The temporary name of file ``name``; short enough where that itself is not."""
    if is_long(name):
        name = os.fsdecode(cut_name(name))
    return f".{name}.{tag}.part"


def part_name(dest: str) -> str:
    folder, name = os.path.split(dest)
    return os.path.join(folder, part_of(name, new_tag()))


def remove_parts(folder: int, name: str, tags: Sequence[str]) -> None:
    """Take away what the tries of ``tags`` have left of ``name`` in an open folder."""
    for tag in tags:
        try:
            os.unlink(part_of(name, tag), dir_fd=folder)
        except OSError:  # mostly there is none
            pass


def parts_in(folder: str) -> Dict[bytes, List[str]]:
    """What killed copies left in ``folder``: (cut) name of the file -> paths."""
    found: Dict[bytes, List[str]] = {}
    own = str(os.getpid()).encode()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = _PART.fullmatch(os.fsencode(entry.name))
                if match and match.group(2) != own:
                    found.setdefault(match.group(1), []).append(entry.path)
    except FileNotFoundError:
        pass
    return found
