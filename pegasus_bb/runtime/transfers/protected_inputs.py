"""The user's own inputs, from the stage-in job lists of this run.

An input may be at the destination of a result, or in the folder that the run uses as
scratch. It is never overwritten and never removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_text
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs


class UserInputs:
    """Tells whether a path is an input; reads the job lists once, on first use."""

    def __init__(self, bb: BBDir) -> None:
        self._submit_dir = os.path.dirname(bb.path)
        self._paths: set[str] | None = None
        self._files: set[tuple[int, int]] = set()

    def __contains__(self, path: object) -> bool:
        """Whether ``path`` is an input, by its name or as the same file."""
        try:
            status = os.lstat(str(path))
        except OSError:  # a missing file is no input: do not read the lists
            return False
        if self._paths is None:
            self._read()
        paths = self._paths or set()
        return os.path.normpath(str(path)) in paths or _key(status) in self._files

    def _read(self) -> None:
        self._paths = set()
        for path in self._sources():
            self._paths.add(os.path.normpath(path))
            try:
                self._files.add(_key(os.stat(path)))
            except OSError:  # gone since: its name still counts
                pass

    def _lists(self) -> Iterator[str]:
        """Job lists of this workflow only: this workflow may make the inputs of a
        sub-workflow."""
        import glob  # most jobs do not need it

        folder = glob.escape(self._submit_dir)
        for below in ("", "*/", "*/*/"):
            yield from glob.iglob(f"{folder}/{below}stage_in*.in")

    def _sources(self) -> Iterator[str]:
        for name in self._lists():
            try:
                jobs = read_jobs(read_text(name))
            except (OSError, UsageError):  # not a job list
                continue
            for job in jobs:
                if isinstance(job, Transfer):
                    yield from (url.path for url in job.sources if url.is_local)


def _key(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
