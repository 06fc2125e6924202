"""One transfer: copy or link, as the placement says."""

from __future__ import annotations

import os
import threading
from typing import Dict, List

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.paths import plain_path
from pegasus_bb.removal import remove
from pegasus_bb.runtime import manifest
from pegasus_bb.runtime.jobs import Transfer, Url
from pegasus_bb.runtime.links import put_link
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.transfer_inputs import Inputs
from pegasus_bb.runtime.transfer_scratch import PFS, Scratch
from pegasus_bb.staging.failures import CopyFailed, explained
from pegasus_bb.staging.folder import copy_path
from pegasus_bb.staging.onefile import Copied
from pegasus_bb.staging.parts import cut_name, parts_in


class NeedsOtherTool(Exception):
    """No local source did, and there is one that only another tool can reach."""


class Mover:
    """Brings files to their places for one run."""

    def __init__(
        self,
        scratch: Scratch,
        roots: Roots,
        inputs: Inputs,
        manifest_path: str,
        uuid: str,
        links: bool = False,
    ) -> None:
        self.scratch, self._roots, self._inputs = scratch, roots, inputs
        self._manifest, self._uuid = manifest_path, uuid
        self._links = links  # --symlink: a link wherever a link can be
        self._left: Dict[str, Dict[bytes, List[str]]] = {}  # by folder, read once
        self._lock = threading.Lock()

    def move(self, job: Transfer) -> str:
        """Do ``job`` by its first source and destination that work; what was done.

        Raises CopyFailed with the reason of each try, NeedsOtherTool.
        """
        reasons: List[str] = []
        for dest in job.dests:
            for source in job.sources:
                if not (source.is_local and dest.is_local):
                    continue
                try:
                    return self._one(job, source, dest)
                except PegasusBBError as error:
                    reasons.append(str(error))
                except OSError as error:
                    reasons.append(str(explained(error, source.path, dest.path)))
        if not all(url.is_local for url in job.sources + job.dests):
            raise NeedsOtherTool("; ".join(reasons))
        raise CopyFailed("; ".join(reasons))

    def _one(self, job: Transfer, source: Url, dest: Url) -> str:
        from_path = os.path.abspath(self.scratch.real(source.path))
        to_path = plain_path(self.scratch.real(dest.path))
        if not os.path.exists(from_path):
            raise CopyFailed(f"{from_path}: is not there")
        lfn = self.scratch.lfn_of(to_path)
        self._spare_inputs(from_path, to_path)
        os.makedirs(os.path.dirname(to_path), exist_ok=True)
        if self._wants_link(lfn, dest):
            return self._link(from_path, to_path)
        home = self.scratch.home(lfn)
        if home:
            self._spare_inputs(from_path, home)
            os.makedirs(os.path.dirname(home), exist_ok=True)
            copied = self._copied(job, from_path, home, digest=False)
            put_link(to_path, home)
            return f"{copied.size} bytes to {home}, linked from {to_path}"
        promised = self._is_promised(job.lfn, to_path)
        copied = self._copied(job, from_path, to_path, digest=promised)
        if promised:
            manifest.append(self._manifest, job.lfn, to_path, copied, self._uuid)
        return f"{copied.size} bytes to {to_path}"

    def _wants_link(self, lfn: object, dest: Url) -> bool:
        """The placement decides; only where it says nothing does the URL."""
        entry = self.scratch.entry(lfn if isinstance(lfn, str) else None)
        if entry:
            return bool(entry.get("tier") == PFS and entry.get("how") == "link")
        return dest.scheme == "symlink" or self._links

    def _link(self, source: str, dest: str) -> str:
        if source == dest or (not os.path.islink(dest) and _is_same(source, dest)):
            return f"{dest} is {source} already"
        put_link(dest, source)
        return f"link from {dest} to {source}"

    def _copied(self, job: Transfer, source: str, dest: str, digest: bool) -> Copied:
        self._clear(dest)
        copied = copy_path(
            source, dest, digest, self._wrote(dest), self._vanishing(source, dest)
        )
        if not job.executable:
            return copied
        mode = copied.stat.st_mode & 0o777
        os.chmod(dest, mode | (mode & 0o444) >> 2)
        return copied._replace(stat=os.lstat(dest))

    def _vanishing(self, source: str, dest: str) -> List[str]:
        """What a copy out of the run must not lead back to: it goes with the run."""
        roots = self._roots.left_behind(source, dest)
        return [*roots, self.scratch.prefix] if roots and self.scratch.prefix else roots

    def _spare_inputs(self, source: str, dest: str) -> None:
        if dest in self._inputs and not _is_same(source, dest):
            raise CopyFailed(
                f"{dest} is an input of this workflow, so it was not replaced by "
                f"{source}; let the result go to another place"
            )

    def _wrote(self, dest: str) -> bool:
        """Whether a folder at ``dest`` would be this run's own, from an earlier try."""
        if not os.path.isdir(dest):
            return False
        if self._roots.own(dest):
            return True
        noted = manifest.read(self._manifest, self._uuid).values()
        return any(entry.get("dest") == dest for entry in noted)

    def _clear(self, dest: str) -> None:
        """Remove what a killed attempt at ``dest`` left: the buffer has no room for it.

        Should that attempt still live somewhere, its rename fails, and no harm done.
        """
        folder = os.path.dirname(dest)
        with self._lock:  # before any part of ours is in the folder
            if folder not in self._left:
                self._left[folder] = parts_in(folder)
            stale = self._left[folder].pop(cut_name(dest), [])
        for path in stale:
            remove(path)

    def _is_promised(self, lfn: str, dest: str) -> bool:
        where = self.scratch.outputs.get(lfn)
        return where is not None and os.path.normpath(where) == os.path.normpath(dest)


def _is_same(one: str, other: str) -> bool:
    """Whether both are one file: device and inode, never the inode alone."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
