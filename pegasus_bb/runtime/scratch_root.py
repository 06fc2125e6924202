"""The run's own folders, which are marked when they are made, and removed only if
marked.

A folder that existed before the run, or that another run uses, is never removed as a
whole: it may have inputs of other users. Two runs with the same --relative-dir both add
their mark, and then neither removes anything there: a file may be of either run.
"""

from __future__ import annotations

import os
import sys

from pegasus_bb.core.files import UNREADABLE, read_json, sync_directory
from pegasus_bb.core.removal import remove as remove_tree
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.scratch_links import RealFolders

MARK = ".pegasus_bb_scratch"


class Roots:
    """Folders that are this run's scratch, on the tier and on the PFS."""

    def __init__(self, uuid: str, roots: list[str]) -> None:
        self._uuid = uuid
        self._roots = {os.path.normpath(root) for root in roots if root}
        self._real = RealFolders()

    @classmethod
    def of(cls, bb: BBDir, on_tier: list[str]) -> Roots:
        """``on_tier``: the roots of a run that uses a tier, as this job sees them."""
        if bb.has_request:
            return cls(bb.request().uuid, on_tier)
        try:
            plan = read_json(bb.file("plan.json"))
            return cls(str(plan["uuid"]), [str(plan["scratch"])])
        except UNREADABLE:
            return cls("", [])

    def __contains__(self, path: str) -> bool:
        return os.path.normpath(path) in self._roots

    def own(self, path: str) -> bool:
        """Whether ``path`` is below a root with only our mark.

        The target of a link in the root is elsewhere; the link itself is inside.
        """
        folder = self._real(os.path.dirname(os.path.normpath(path))) + "/"
        return any(
            folder.startswith(self._real(root) + "/") and self._is_ours(root)
            for root in self._above(path)
        )

    def left_behind(self, source: str, dest: str) -> list[str]:
        """The roots, if a copy from ``source`` to ``dest`` leaves them; else empty."""
        if self._above(source) and not self._above(dest):
            return sorted(self._roots)
        return []

    def shared(self, path: str) -> bool:
        """Whether ``path`` lies in a root that another run uses as well."""
        return any(self._marks(root) - {self._uuid} for root in self._above(path))

    def make(self, path: str) -> None:
        """Make root ``path``, marked as ours unless other files are in it."""
        os.makedirs(path, exist_ok=True)
        names = os.listdir(path)
        if (names and MARK not in names) or self._uuid in self._marks(path):
            return
        # Appended, so that two runs that start at the same time see each other.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        mark = os.path.join(path, MARK)
        handle = os.open(mark, flags, 0o644)
        try:
            os.write(handle, f"{self._uuid}\n".encode())
            os.fsync(handle)
        except OSError as error:
            error.filename = mark  # an error of write() has no name
            raise
        finally:
            os.close(handle)
        sync_directory(path)

    def remove(self, path: str) -> str:
        """Remove root ``path`` if it has our mark; returns a message.

        The folder is renamed first, so that a killed removal can be continued.
        """
        removed = f"{os.path.normpath(path)}.{self._uuid[:8]}.removed"
        if os.path.isdir(path) and not os.path.islink(path):
            if not self._is_ours(path):
                why = f"{path}: was there before this run, or another run uses it"
                print(f"transfer: {why}; it was kept", file=sys.stderr)
                return f"kept {path}"
            remove_tree(removed)  # of a killed removal, before a restart made it anew
            os.rename(path, removed)
        remove_tree(removed)
        return f"removed {path}"

    def _above(self, path: str) -> list[str]:
        """The roots that ``path`` is in."""
        path = os.path.normpath(path)
        return [root for root in self._roots if path.startswith(root + "/")]

    def _is_ours(self, path: str) -> bool:
        return self._marks(path) == {self._uuid}

    @staticmethod
    def _marks(path: str) -> set[str]:
        """The runs that have marked root ``path``. Opened each time, as NFS asks its
        server then, and not for a stat."""
        try:
            with open(os.path.join(path, MARK), encoding="utf-8") as mark:
                return set(mark.read().split())
        except (OSError, UnicodeDecodeError):
            return set()
