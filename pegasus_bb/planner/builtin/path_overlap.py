"""Nothing of the user's lies where the run writes over or removes.

The run's own folder is removed at its end, and stage-out replaces what stands at the
destination of a result: neither may be an input or a result.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.paths import local_path
from pegasus_bb.planner.builtin.executable import STAGE_IN, Executable


def check_path_overlap(executable: Executable, run_folder: str) -> None:
    """Raises UsageError. ``run_folder`` is the run's folder on the PFS."""
    places = _Places(executable.scratch, run_folder)
    results: dict[str, str] = {}  # destination -> LFN
    for lfn, path in executable.outputs.items():
        real = places.real(path)
        if places.is_the_runs(real):
            raise UsageError(
                f"the result {lfn!r} would go to {path}, but the run's own folder "
                f"{run_folder} is there, which is removed at the end: choose another "
                "--output-dir, or another --relative-dir"
            )
        results[real] = lfn
    for lfn, path in _inputs(executable):
        real = places.real(path)
        if places.is_the_runs(real):
            raise CatalogError(
                f"the input {lfn!r} lies in the run's own folder {run_folder}, which "
                "is removed at the end",
                found=path,
                would_do="another place for the input, or another --relative-dir",
            )
        if real in results:
            raise CatalogError(
                f"the result {results[real]!r} would take the place of the input "
                f"{lfn!r}",
                found=path,
                would_do="another --output-dir, or another name for the result",
            )


def _inputs(executable: Executable) -> Iterator[tuple[str, str]]:
    """LFN and path of every replica that is a file."""
    for planned in executable.jobs.values():
        if planned.role is STAGE_IN:
            for entry in planned.entries or ():
                for source in entry["src_urls"]:
                    path = local_path(source["url"])
                    if path is not None:
                        yield entry["lfn"], path


class _Places:
    """Paths without links in their folders; each folder is looked at once."""

    def __init__(self, *run_folders: str) -> None:
        self._real: dict[str, str] = {}
        folders = [self.real(folder) for folder in run_folders]
        self._inside = tuple(f"{folder}/" for folder in folders)
        above = {str(place) for f in folders for place in PurePosixPath(f).parents}
        self._around = above.union(folders)

    def is_the_runs(self, path: str) -> bool:
        """Whether real ``path`` is the run's folder, inside, or a folder above."""
        return path in self._around or path.startswith(self._inside)

    def real(self, path: str) -> str:
        """``path`` with the links in its folders resolved."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            folder, _, name = os.path.normpath(path).rpartition("/")
        if folder not in self._real:
            self._real[folder] = os.path.realpath(folder or "/")
        return f"{self._real[folder].rstrip('/')}/{name}"
