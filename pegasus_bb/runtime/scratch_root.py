"""The run's own folders: marked when they are made, removed only with that mark.

A folder that was there before the run, or that another run uses, is never removed
whole: it may hold inputs of other users. Two runs with one --relative-dir both write
their mark. From then on neither removes anything there: a file may be of either run.
"""

from __future__ import annotations

import os
import sys
from typing import List, Set

from pegasus_bb.files import read_json, sync_directory
from pegasus_bb.removal import remove as remove_tree
from pegasus_bb.runtime.bbdir import BBDir

MARK = ".pegasus_bb_scratch"


class Roots:
    """Folders that are this run's scratch, on the tier and on the PFS."""

    def __init__(self, uuid: str, roots: List[str]) -> None:
        self._uuid = uuid
        self._roots = {os.path.normpath(root) for root in roots if root}

    @classmethod
    def of(cls, bb: BBDir, on_tier: List[str]) -> Roots:
        """``on_tier``: the roots of a run that uses one, as this job sees them."""
        if bb.has_request:
            return cls(bb.request().uuid, on_tier)
        try:
            plan = read_json(bb.file("plan.json"))
            return cls(str(plan["uuid"]), [str(plan["scratch"])])
        except (OSError, ValueError, TypeError, KeyError):
            return cls("", [])

    def __contains__(self, path: str) -> bool:
        return os.path.normpath(path) in self._roots

    def own(self, path: str) -> bool:
        """Whether ``path`` lies below a root that carries our mark.

        What a link in the root leads to lies elsewhere; the link itself is inside.
        """
        path = os.path.normpath(path)
        folder = os.path.realpath(os.path.dirname(path)) + "/"
        return any(
            path.startswith(root + "/")
            and folder.startswith(os.path.realpath(root) + "/")
            and self._is_ours(root)
            for root in self._roots
        )

    def left_behind(self, source: str, dest: str) -> List[str]:
        """The roots, where a copy to ``dest`` takes ``source`` out of them."""
        if self._holds(source) and not self._holds(dest):
            return sorted(self._roots)
        return []

    def shared(self, path: str) -> bool:
        """Whether ``path`` lies in a root that another run uses as well."""
        path = os.path.normpath(path)
        return any(
            path.startswith(root + "/") and bool(self._marks(root) - {self._uuid})
            for root in self._roots
        )

    def make(self, path: str) -> None:
        """Make root ``path``, marked as ours unless other files are in it."""
        os.makedirs(path, exist_ok=True)
        names = os.listdir(path)
        if (names and MARK not in names) or self._uuid in self._marks(path):
            return
        # Added, not put in its place: two runs that begin at once see each other.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        mark = os.path.join(path, MARK)
        handle = os.open(mark, flags, 0o644)
        try:
            os.write(handle, f"{self._uuid}\n".encode())
            os.fsync(handle)
        except OSError as error:
            error.filename = mark  # a descriptor has no name
            raise
        finally:
            os.close(handle)
        sync_directory(path)

    def remove(self, path: str) -> str:
        """Remove root ``path`` if it carries our mark; a message.

        It changes its name first: a removal that was killed halfway is gone on with.
        """
        removed = f"{os.path.normpath(path)}.{self._uuid[:8]}.removed"
        if os.path.isdir(path) and not os.path.islink(path):
            if not self._is_ours(path):
                why = f"{path}: was there before this run, or another run uses it"
                print(f"transfer: {why}; it was kept", file=sys.stderr)
                return f"kept {path}"
            remove_tree(removed)  # by a removal that was killed; a restart made anew
            os.rename(path, removed)
        remove_tree(removed)
        return f"removed {path}"

    def _holds(self, path: str) -> bool:
        path = os.path.normpath(path)
        return any(path.startswith(root + "/") for root in self._roots)

    def _is_ours(self, path: str) -> bool:
        return self._marks(path) == {self._uuid}

    @staticmethod
    def _marks(path: str) -> Set[str]:
        """The runs that use root ``path``, as far as they have said so."""
        try:
            with open(os.path.join(path, MARK), encoding="utf-8") as mark:
                return set(mark.read().split())
        except (OSError, UnicodeDecodeError):
            return set()
