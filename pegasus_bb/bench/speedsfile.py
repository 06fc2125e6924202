"""A file for ``--bb-speeds``: what was measured, beside what it has already."""

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
    """Where the figures of one site go."""

    path: Path
    site: str
    before: dict[str, Any]  # site -> its entry, as the file has it now

    def put(
        self, places: Mapping[str, Mapping[str, str]], slots: int | None, why: str
    ) -> None:
        """Write ``places``; other sites and other places stay. ``why`` is its head.

        Raises UsageError where it cannot be written.
        """
        known = self.before.get(self.site, {})
        slots = slots or known.get("slots")
        entry = {"slots": slots} if slots else {}
        entry.update((name, value) for name, value in known.items() if name != "slots")
        entry.update((name, dict(value)) for name, value in places.items())
        text = yaml.safe_dump(
            {KEY: {**self.before, self.site: entry}},
            sort_keys=False,
            default_flow_style=None,  # a place in a line
            allow_unicode=True,
            width=1000,
        )
        try:
            write_text(str(self.path), f"# {why}\n{text}")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error}") from error


def open_speeds(path: Path, site: str, names: list[str]) -> SpeedsFile:
    """``path``, for figures of tiers ``names``; looked at before anything is measured.

    Raises UsageError: it is another file, may not be written, or would be none that
    --bb-speeds takes.
    """
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--speeds {path}: no file can be made in {folder}")
    before = _sites(path) if path.exists() else {}
    if PFS not in names and PFS not in before.get(site, {}):
        raise UsageError(
            f"--speeds {path}: all is compared with the speed of the PFS, and that is "
            f"not there yet; measure it too: --tier {PFS}=DIR"
        )
    return SpeedsFile(path, site, before)


def _sites(path: Path) -> dict[str, Any]:
    """What the file has. Raises UsageError."""
    document = load(path, os.environ)
    sites = document.data.get(KEY, document.data)
    alone = KEY not in document.data or len(document.data) == 1
    if not alone or not isinstance(sites, dict):
        raise UsageError(
            f"--speeds {path}: is no file of speeds alone, and what else it holds "
            "would be lost; name another: it goes before the catalog"
        )
    _check(document, sites)
    return sites


def _check(document: Document, sites: Mapping[str, Any]) -> None:
    """Raises CatalogError where it is no file of speeds."""
    root = (KEY,) if KEY in document.data else ()
    for site in sites:
        read_speeds(document, root, site)
