"""What a folder, or a single file, holds of a run."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.files import is_dir, is_file
from pegasus_bb.report.darshan import SUFFIX, UNFINISHED, is_log

_OUT = re.compile(r"(.+)\.out(?:\.([0-9]{3,9}))?")


@dataclass(slots=True)
class Found:
    """Paths of records and logs."""

    # Of each node, by its path without a suffix, the last attempt: its number, record.
    records: dict[str, tuple[int, Path]] = field(default_factory=dict)
    logs: list[Path] = field(default_factory=list)  # Darshan's
    unfinished: list[Path] = field(default_factory=list)  # Darshan's too
    unread: dict[str, str] = field(default_factory=dict)  # folders, and why
    planned: set[str] = field(default_factory=set)  # nodes, as in records
    retries: int = 0


def look(path: Path) -> Found:
    """What is at ``path`` or below. Raises UsageError where nothing is to be read."""
    if is_file(path):
        return _one_file(path)
    if not is_dir(path):
        raise UsageError(
            f"{path}: no such file or folder; name a submit directory (the one that "
            "`pegasus-bb plan` printed), a Kickstart record (<node>.out.000) or a "
            "Darshan log (*.darshan)"
        )
    found = _look_around(path)
    if not found.records and not found.logs:
        for folder, why in found.unread.items():
            raise UsageError(f"{folder}: cannot be read ({why}), nor is there a record")
        raise UsageError(
            f"{path}: no Kickstart record (*.out.000) and no Darshan log (*.darshan) "
            "in it or below; has the workflow been run? `pegasus-bb status` shows how "
            "far it is"
        )
    return found


def _one_file(path: Path) -> Found:
    if is_log(path):
        return Found(logs=[path])
    match = _OUT.fullmatch(path.name)
    node = match.group(1) if match else path.stem
    retry = int(match.group(2) or 0) if match else 0
    return Found({str(path.with_name(node)): (retry, path)})


def _look_around(folder: Path) -> Found:
    """All that is below ``folder``, except in its bb folder. A link is no way into
    another one, and what is no file is not opened: a pipe would never end."""
    found = Found()
    left, aside = [str(folder)], f"{folder}/bb"
    while left:
        parent = left.pop()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    if _is_file(entry):
                        _note(found, parent, entry.name)
                    elif entry.is_dir(follow_symlinks=False) and entry.path != aside:
                        left.append(entry.path)
        except OSError as error:
            found.unread[parent] = error.strerror or str(error)
    return found


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def _note(found: Found, parent: str, name: str) -> None:
    path = f"{parent}/{name}"
    if name.endswith(".sub") and not name.endswith(".condor.sub"):
        found.planned.add(path[:-4])
    elif name.endswith(SUFFIX):
        found.logs.append(Path(path))
    elif name.endswith(UNFINISHED):
        found.unfinished.append(Path(path))
    elif (match := _OUT.fullmatch(name)) and match.group(2):
        node = f"{parent}/{match.group(1)}"
        _note_record(found, node, int(match.group(2)), Path(path))


def _note_record(found: Found, key: str, retry: int, path: Path) -> None:
    if key not in found.records:
        found.records[key] = (retry, path)
        return
    found.retries += 1
    if retry > found.records[key][0]:
        found.records[key] = (retry, path)
