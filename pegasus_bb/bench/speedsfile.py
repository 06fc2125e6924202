"""A file for ``--bb-speeds``: measured figures beside those that it already has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pegasus_bb.errors import UsageError
from pegasus_bb.files import write_text
from pegasus_bb.model.document import Document, load
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import KEY, read_speeds


@dataclass(frozen=True)
class SpeedsFile:
    """The file, and the site whose figures go into it."""

    path: Path
    site: str
    before: dict[str, Any]  # site -> its entry, as the file has it now

    def put(self, places: Mapping[str, Mapping[str, str]], comment: str) -> None:
        """Write ``places`` below ``comment``; other sites, places and slots stay.

        Raises UsageError if it cannot be written.
        """
        measured = {name: dict(value) for name, value in places.items()}
        entry = {**self.before.get(self.site, {}), **measured}
        text = yaml.safe_dump(
            {KEY: {**self.before, self.site: entry}},
            sort_keys=False,
            default_flow_style=None,  # a place in a line
            allow_unicode=True,
            width=1000,
        )
        try:
            write_text(str(self.path), f"# {comment}\n{text}")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error}") from error


def open_speeds(path: Path, site: str, names: list[str]) -> SpeedsFile:
    """``path``, for figures of the tiers ``names``; checked before measuring.

    Raises UsageError if it is another file, cannot be written, or would have no PFS.
    """
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--speeds {path}: {folder} is no folder of yours to write to")
    before = _sites(path) if path.exists() else {}
    if PFS not in names and PFS not in before.get(site, {}):
        raise UsageError(
            f"--speeds {path}: it has no speed of the PFS yet, to compare tiers "
            f"with; measure it too: --tier {PFS}=DIR"
        )
    return SpeedsFile(path, site, before)


def _sites(path: Path) -> dict[str, Any]:
    """Site -> its entry in the file. Raises UsageError."""
    document = load(path, os.environ)
    sites = document.data.get(KEY, document.data)
    alone = KEY not in document.data or len(document.data) == 1
    if not alone or not isinstance(sites, dict):
        raise UsageError(
            f"--speeds {path}: it holds more than speeds, which would be lost; name "
            "another file: it goes before the catalog"
        )
    _check(document, sites)
    return sites


def _check(document: Document, sites: Mapping[str, Any]) -> None:
    """Raises CatalogError if it is no file of speeds."""
    root = (KEY,) if KEY in document.data else ()
    for site in sites:
        read_speeds(document, root, site)
