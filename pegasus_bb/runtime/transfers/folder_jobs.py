"""mkdir and remove jobs: the folders of a run, and checks before a removal."""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.paths import is_below, plain_path
from pegasus_bb.core.removal import remove as remove_tree
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.scratch_root import Roots
from pegasus_bb.runtime.transfers.scratch import Scratch
from pegasus_bb.runtime.transfers.transfer_jobs import Mkdir, Remove

LAST_COPY = "may be the last copy of the result"
Guard = Callable[[str], str]  # a promised LFN -> why it is not safe yet, or empty


class RemoveRefused(PegasusBBError):
    """This job may not remove the path."""


def make_folder(scratch: Scratch, roots: Roots, job: Mkdir) -> str:
    """Make a folder of the run's scratch, and its twin on the PFS if needed."""
    path = plain_path(scratch.real(job.url.path))
    lfn = scratch.lfn_of(path)
    made = [path]
    if lfn is not None and scratch.has_homes:
        made.append(checked_path(scratch.pfs_root, lfn))
    if scratch.is_root(path) and scratch.has_homes:
        made.append(scratch.pfs_root)
    for folder in made:
        if folder in roots:
            roots.make(folder)
        else:
            os.makedirs(folder, exist_ok=True)
    return " and ".join(made)


class Remover:
    """Removes files and folders of one run; follows no links.

    The copy of a promised result is removed only if the result is safe.
    """

    def __init__(
        self,
        scratch: Scratch,
        roots: Roots,
        inputs: Container[str],
        guard: Guard,
        keep: list[str],
    ) -> None:
        """``keep``: paths that are never removed, nor the folders that contain them."""
        self._scratch = scratch
        self._roots = roots
        self._guard = guard
        self._inputs = inputs
        self._keep = [*keep, *scratch.outputs.values()]
        if scratch.prefix:
            self._keep.append(scratch.prefix)
        self._kept: dict[str, str] | None = None
        self._promised = sorted(scratch.promised)

    def remove(self, job: Remove) -> str:
        """Remove the path of ``job``, if it exists. Raises RemoveRefused, OSError."""
        path = plain_path(self._scratch.real(job.url.path))
        targets = self._targets(path, recursive=job.recursive)
        for each in targets:
            self._check(each)
        self._check_results(path, recursive=job.recursive)
        return " and ".join(self._remove(each) for each in targets)

    def _remove(self, path: str) -> str:
        if path in self._roots:
            return self._roots.remove(path)
        why = "" if self._roots.own(path) else self._why_kept(path)
        if why:
            print(f"transfer: {path}: {why}; it was kept", file=sys.stderr)
            return f"kept {path}"
        folder = os.path.dirname(path)
        if os.path.realpath(folder) != self._scratch.real_folder(folder):
            raise RemoveRefused(f"{path}: its folder was replaced meanwhile")
        remove_tree(path)
        return f"removed {path}"

    def _why_kept(self, path: str) -> str:
        """Why ``path``, which is not below a root of this run alone, is left; empty if
        it may go."""
        if path in self._inputs:
            return "is the input itself"
        if self._roots.shared(path):
            return "another run uses this folder as well"
        return ""

    def _check_results(self, path: str, *, recursive: bool) -> None:
        """Raises RemoveRefused if this may be the last copy of a result."""
        if not os.path.lexists(path):
            return
        for promised in self._results_in(path, recursive=recursive):
            why = self._guard(promised)
            if why:
                raise RemoveRefused(f"{path}: kept, it {LAST_COPY} {promised}: {why}")

    def _results_in(self, path: str, *, recursive: bool) -> list[str]:
        promised = self._promised
        scratch = self._scratch
        results: list[str] = []
        for root in (
            scratch.root.rstrip("/"),
            scratch.pfs_root,
            *scratch.pools.values(),
        ):
            if not root or not promised:
                continue
            if is_below(root, path) or root == path:
                return promised
            if not is_below(path, root):
                continue
            lfn = path[len(root) + 1 :]
            if lfn in scratch.promised:
                results.append(lfn)
            elif recursive:  # "0" is the character after "/"
                first = bisect_left(promised, f"{lfn}/")
                results += promised[first : bisect_left(promised, f"{lfn}0")]
        return results

    def _targets(self, path: str, *, recursive: bool) -> list[str]:
        scratch = self._scratch
        lfn = scratch.lfn_of(path)
        if scratch.is_root(path) and recursive:
            return [path, scratch.pfs_root] if scratch.has_homes else [path]
        if lfn is not None:
            home = scratch.home(lfn)
            if not home and recursive and scratch.has_homes:
                home = os.path.join(scratch.pfs_root, lfn)  # a folder's twin
            return [path, home] if home else [path]
        if recursive or os.path.islink(path) or not os.path.isdir(path):
            return [path]
        if not (self._roots.own(path) or self._roots.shared(path)):
            raise RemoveRefused(f"{path}: is a folder, and recursive is not set")
        return [path]

    def _check(self, path: str) -> None:
        if ".." in path.split("/") or path.count("/") < 2:
            raise RemoveRefused(f"{path}: no job removes that")
        mine = {os.path.normpath(path)}
        if not os.path.islink(path):  # else only the link itself would go
            folder, name = os.path.split(path)
            mine.add(os.path.join(self._scratch.real_folder(folder), name))
        if self._kept is None:
            self._kept = _with_folders(self._keep)
        for each in mine & self._kept.keys():
            raise RemoveRefused(f"{path}: {self._kept[each]} must stay, so it was kept")


def _with_folders(keep: Iterable[str]) -> dict[str, str]:
    """Every path of ``keep`` and every folder that contains it, each as it is spelt and
    without links -> the path of ``keep``. A removal looks up its own path."""
    kept: dict[str, str] = {}
    real: dict[str, str] = {}  # folder -> its real path
    for path in keep:
        folder, name = os.path.split(os.path.normpath(path))
        if folder not in real:
            real[folder] = os.path.realpath(folder)
        there = os.path.join(real[folder], name)
        if os.path.islink(there):
            there = os.path.realpath(there)
        for spelt in (os.path.join(folder, name), there):
            while spelt not in kept:
                kept[spelt] = path
                spelt = os.path.dirname(spelt)
    return kept
