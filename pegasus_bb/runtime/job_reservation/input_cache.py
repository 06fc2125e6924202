"""A job's inputs in the cache of its node: the key ``cache`` of a tier.

A file that several jobs read comes once to a node. Each of them has a link to it, in
place of a copy, and a lease of it until it ends. Whatever the cache cannot do, the job
does itself: it copies its input, and says why.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.units import parse_size
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.job_reservation.cache_folder import CacheFolder, Lease
from pegasus_bb.runtime.job_reservation.cached_copy import Source, is_whole
from pegasus_bb.runtime.job_reservation.disk import disk_of, is_full
from pegasus_bb.runtime.job_reservation.planned import PlannedReservation
from pegasus_bb.runtime.job_reservation.space import SharedInputs
from pegasus_bb.runtime.private_inputs import LinkedInputs, changed_inputs
from pegasus_bb.runtime.scratch_links import checked_path
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.task import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

# Keys of the job's note: what came from the cache, and what this job has brought there.
HITS, HIT_BYTES = "cached", "cached_bytes"
NEW, NEW_BYTES = "brought", "brought_bytes"


def open_cache(
    request: Request,
    reservation: PlannedReservation,
    environ: dict[str, str],
    stack: contextlib.ExitStack,
) -> SharedInputs:
    """The cache of this node, with leases of what it has of the job's inputs, until
    ``stack`` is closed; none where it cannot be used, which is said. Raises
    ReservationFailed if the node has no such disk."""
    disk = disk_of(request.settings, environ)
    try:
        folder = CacheFolder(disk, parse_size(request.settings["cache"]))
        cache = InputCache(folder, reservation.shared)
        stack.callback(cache.close)
        cache.find(request.prefix)
        return cache
    except OSError as error:
        _tell_why_not(error)
        return SharedInputs()


class InputCache(SharedInputs):
    """What one job has of the cache of its node."""

    def __init__(self, folder: CacheFolder, shared: Mapping[str, str]) -> None:
        """``shared``: LFN -> the declared digest, or empty."""
        self._folder = folder
        self._shared = shared
        self._leases: dict[str, Lease] = {}
        self._linked = LinkedInputs()
        self._used: list[str] = []  # those that were linked
        self.size = 0
        self.folders = (folder.path,)
        self.facts = self._counts = dict.fromkeys((HITS, HIT_BYTES, NEW, NEW_BYTES), 0)

    def find(self, scratch: str) -> None:
        """Lease all that is there already of the files in ``scratch``."""
        for lfn in self._shared:
            with contextlib.suppress(OSError):  # told where it is brought
                source = Source.of(checked_path(scratch, lfn), self._shared[lfn])
                lease = source and self._folder.lease(source)
                if source and lease:
                    self._leases[lfn] = lease
                    self.size += source.size

    def free(self, need: int) -> None:
        try:
            self._folder.free(need)
        except OSError as error:
            _tell_why_not(error)

    def link(self, lfn: str, path: str, here: str) -> bool:
        if lfn not in self._shared:
            return False
        try:
            lease = self._leases.get(lfn) or self._bring(lfn, path)
            if lease is None:
                return False
            os.symlink(lease.path, here)
        except (OSError, CopyFailed) as error:
            if isinstance(error, CopyFailed) and not is_full(error):
                raise
            _tell_why_not(error)
            return False
        found = os.lstat(lease.path)
        self._linked.add(lease.path, found)
        self._used.append(lfn)
        self._count(found.st_size, is_new=lease.is_new)
        return True

    def check(self, status: int, outputs: Iterable[str]) -> int:
        changed = [lfn for lfn in self._used if not is_whole(self._leases[lfn].path)]
        if changed:
            tell(changed_inputs([self._leases[lfn].path for lfn in changed]))
            for lfn in changed:
                self._folder.drop(self._leases.pop(lfn))
            return status or 1
        if status:
            tell(self._linked.advice())
        for path in outputs:
            with contextlib.suppress(OSError):
                self._linked.open_copy(path)
        return status

    def close(self) -> None:
        while self._leases:
            os.close(self._leases.popitem()[1].handle)

    def _bring(self, lfn: str, path: str) -> Lease | None:
        source = Source.of(path, self._shared[lfn])
        lease = source and self._folder.bring(source)
        if lease:
            self._leases[lfn] = lease
        return lease or None

    def _count(self, size: int, *, is_new: bool) -> None:
        number, size_of_all = (NEW, NEW_BYTES) if is_new else (HITS, HIT_BYTES)
        self._counts[number] += 1
        self._counts[size_of_all] += size


def _tell_why_not(error: Exception) -> None:
    where = getattr(error, "filename", None) or ""
    why = getattr(error, "strerror", None) or error
    at = f"{where}: " if where else ""
    tell(f"{at}{why}: this job brings inputs itself, without the cache of its node")
