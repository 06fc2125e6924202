"""Finds the records and logs of a run: in a folder, or a single file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_dir, is_file
from pegasus_bb.core.similar_path import similar_path
from pegasus_bb.core.units import abbreviate
from pegasus_bb.report.darshan_counters import SUFFIX, UNFINISHED, is_log
from pegasus_bb.report.records import holds_record

_OUT = re.compile(r"(.+)\.out(?:\.([0-9]{3,9}))?")
_BRAINDUMPS = ("braindump.yml", "braindump.txt")  # Pegasus 5, and 4
_HEAD = 64 << 10  # bytes in which a record of another name has to begin


@dataclass(slots=True)
class RunFiles:
    # Node, as a path without suffix -> number and record of its last attempt.
    records: dict[str, tuple[int, Path]] = field(default_factory=dict)
    logs: list[Path] = field(default_factory=list)  # Darshan's
    unfinished: list[Path] = field(default_factory=list)  # Darshan's too
    unread: dict[str, str] = field(default_factory=dict)  # folder -> why
    planned: set[str] = field(default_factory=set)  # nodes, as in records
    submit_dirs: list[str] = field(default_factory=list)
    retries: int = 0


def find_run_files(path: Path) -> RunFiles:
    """Find what is at ``path`` or below. Raises UsageError if there is nothing to
    read."""
    if is_file(path):
        return _one_file(path)
    if not is_dir(path):
        hint = similar_path(path) or (
            "; name a submit directory (the one that `pegasus-bb plan` printed), a "
            "Kickstart record (<node>.out.000) or a Darshan log (*.darshan)"
        )
        raise UsageError(f"{path}: no such file or folder{hint}")
    found = RunFiles()
    for parent, name in _files(str(path), found.unread):
        _note(found, parent, name)
    _check_one_run(path, found.submit_dirs)
    if not found.records and not found.planned:
        found.records = _records_of_other_names(path)
    if not found.records and not found.logs:
        raise _nothing_to_read(path, found)
    return found


def _check_one_run(path: Path, submit_dirs: list[str]) -> None:
    """Raise UsageError if ``path`` is above runs. A run may have sub-workflows below
    it."""
    if submit_dirs and str(path) not in submit_dirs:
        raise UsageError(
            f"{path} is no submit directory; name one, such as those below it: "
            f"{abbreviate(sorted(submit_dirs))}"
        )


def _nothing_to_read(path: Path, found: RunFiles) -> UsageError:
    for folder, why in found.unread.items():
        return UsageError(f"{folder}: cannot be read ({why}), nor is there a record")
    return UsageError(
        f"{path}: no Kickstart record and no Darshan log (*.darshan) in it or below; "
        "has the workflow been run? `pegasus-bb status` shows how far it is"
    )


def _one_file(path: Path) -> RunFiles:
    if is_log(path):
        return RunFiles(logs=[path])
    match = _OUT.fullmatch(path.name)
    node = match.group(1) if match else path.stem
    retry = int(match.group(2) or 0) if match else 0
    return RunFiles({str(path.with_name(node)): (retry, path)})


def _files(folder: str, unread: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield parent and name of each file below ``folder``, except in its bb folder.

    It follows no link into another folder, and opens nothing but files: reading a pipe
    would never end.
    """
    left = [folder]
    notes = f"{folder}/bb"
    while left:
        parent = left.pop()
        try:
            with os.scandir(parent) as entries:
                for entry in entries:
                    if _is_file(entry):
                        yield parent, entry.name
                    elif entry.is_dir(follow_symlinks=False) and entry.path != notes:
                        left.append(entry.path)
        except OSError as error:
            unread[parent] = error.strerror or str(error)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link to itself
        return False


def _note(found: RunFiles, parent: str, name: str) -> None:
    path = f"{parent}/{name}"
    if name.endswith(".sub") and not name.endswith(".condor.sub"):
        found.planned.add(path[:-4])
    elif name in _BRAINDUMPS:
        found.submit_dirs.append(parent)
    elif name.endswith(SUFFIX):
        found.logs.append(Path(path))
    elif name.endswith(UNFINISHED):
        found.unfinished.append(Path(path))
    elif (match := _OUT.fullmatch(name)) and match.group(2):
        node = f"{parent}/{match.group(1)}"
        _note_record(found, node, int(match.group(2)), Path(path))


def _note_record(found: RunFiles, key: str, retry: int, path: Path) -> None:
    if key not in found.records:
        found.records[key] = (retry, path)
        return
    found.retries += 1
    if retry > found.records[key][0]:
        found.records[key] = (retry, path)


def _records_of_other_names(folder: Path) -> dict[str, tuple[int, Path]]:
    """Find records by their content below a folder that is no submit directory."""
    records: dict[str, tuple[int, Path]] = {}
    for parent, name in _files(str(folder), {}):
        path = Path(parent, name)
        if _begins_with_record(path):
            node = str(path.with_suffix(""))
            records[str(path) if node in records else node] = (0, path)
    return records


def _begins_with_record(path: Path) -> bool:
    try:
        with path.open("rb") as source:
            return holds_record(source.read(_HEAD))
    except OSError:
        return False
