"""The user's own inputs, as this run's stage-in job lists name them.

An input may lie where a result goes, or in the very folder that the run was told to use
as its scratch. It is never overwritten and never removed.
"""

from __future__ import annotations

import os
from typing import Iterator, Optional, Set, Tuple

from pegasus_bb.errors import UsageError
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.transfers.jobs import Transfer, read_jobs


class Inputs:
    """Asks whether a path is an input; reads the job lists once, when first asked."""

    def __init__(self, bb: BBDir) -> None:
        self._submit_dir = os.path.dirname(bb.path)
        self._paths: Optional[Set[str]] = None
        self._files: Set[Tuple[int, int]] = set()

    def __contains__(self, path: object) -> bool:
        """Whether ``path`` is an input, by its name or as the same file."""
        try:
            found = os.lstat(str(path))
        except OSError:  # a missing file is no input, and costs no reading
            return False
        if self._paths is None:
            self._read()
        paths = self._paths or set()
        return os.path.normpath(str(path)) in paths or _key(found) in self._files

    def _read(self) -> None:
        self._paths = set()
        for path in self._sources():
            self._paths.add(os.path.normpath(path))
            try:
                self._files.add(_key(os.stat(path)))
            except OSError:  # gone since: its name still counts
                pass

    def _lists(self) -> Iterator[str]:
        """Of this workflow; what a workflow inside it reads may be made by this one."""
        import glob  # most jobs never ask

        folder = glob.escape(self._submit_dir)
        for below in ("", "*/", "*/*/"):
            yield from glob.iglob(f"{folder}/{below}stage_in*.in")

    def _sources(self) -> Iterator[str]:
        for name in self._lists():
            try:
                with open(name, encoding="utf-8", errors="surrogateescape") as text:
                    jobs = read_jobs(text.read())
            except (OSError, UsageError):  # not a list of ours: it names no input
                continue
            for job in jobs:
                if isinstance(job, Transfer):
                    yield from (url.path for url in job.sources if url.is_local)


def _key(found: os.stat_result) -> Tuple[int, int]:
    return found.st_dev, found.st_ino
