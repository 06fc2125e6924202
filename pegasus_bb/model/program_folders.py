"""Folders whose executable files are transformations: --transformations-dir."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import is_dir, is_file
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Data, Document


def with_programs(document: Document, folders: Iterable[Path]) -> Document:
    """Return the transformation catalog ``document`` with the programs of ``folders``.

    A program is stageable from site local. A job names it with or without the ending
    of the file. One that the catalog has stays as it is; earlier folders win. Raises
    UsageError if there is no such folder.
    """
    known = document.data.get("transformations")
    if known is not None and not isinstance(known, list):
        return document  # its reader says what is wrong
    found = {_name(entry): entry for entry in known or ()}
    added: dict[str, Data] = {}
    for folder in folders:
        for name, entry in _programs(folder):
            if name not in found:
                added.setdefault(name, entry)
    data = {**document.data, "transformations": [*(known or ()), *added.values()]}
    return document.with_data(data)


def _name(entry: object) -> str:
    """The name of a transformation without a namespace and a version, else empty."""
    if not isinstance(entry, dict) or entry.get("namespace") or entry.get("version"):
        return ""
    return str(entry.get("name"))


def _programs(folder: Path) -> Iterator[tuple[str, Data]]:
    if not is_dir(folder):
        raise UsageError(f"--transformations-dir {folder}: there is no such folder")
    files = [each for each in sorted(folder.iterdir()) if is_file(each)]
    programs = [each for each in files if os.access(each, os.X_OK)]
    for name, file in [(p.name, p) for p in programs] + [(p.stem, p) for p in programs]:
        place = {"name": LOCAL, "pfn": str(file.resolve()), "type": "stageable"}
        yield name, {"name": name, "sites": [place]}
