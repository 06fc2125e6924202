"""Which part of each pool is given to whom, in granules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_size, round_up
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from pegasus_bb.stager.slurm.space_folders import Trash
from pegasus_bb.stager.store import Record, Records


class Holder(Record):
    """Who has a part of a pool: a persistent buffer, or a job with one of its own."""

    uid: int
    pool: str
    size: int  # bytes

    @property
    def granted(self) -> int:
        """Its bytes of the pool."""
        return self.size


class Pools:
    """The space of all pools: ``holders`` have it, and what ``trash`` has not removed
    yet."""

    def __init__(
        self,
        pools: Sequence[GranulePool],
        trash: Trash,
        holders: Sequence[Records[Any]],
    ) -> None:
        """Raises UsageError where a pool was taken away meanwhile."""
        self._pools = {pool.name: pool for pool in pools}
        self._default = pools[0].name
        self._trash, self._holders = trash, holders
        for holder in self._all_holders():
            if holder.pool and holder.pool not in self._pools:
                raise UsageError(
                    f"pool {holder.pool} is not in the configuration, and {holder.key} "
                    "is a buffer of it; declare the pool until its last buffer is "
                    "deleted"
                )

    def _all_holders(self) -> Iterator[Holder]:
        return chain.from_iterable(records.all() for records in self._holders)

    def _given(self, pool: GranulePool) -> Iterator[Holder]:
        return (each for each in self._all_holders() if each.pool == pool.name)

    def pool(self, name: str) -> GranulePool:
        """Return the pool ``name``; the default for an empty name. Raises Refused."""
        found = self._pools.get(name or self._default)
        if found is None:
            known = ", ".join(self._pools)
            raise Refused("no-pool", f"no pool {name}; this site has {known}")
        return found

    def rounded(self, pool: GranulePool, size: int) -> int:
        """Return ``size`` bytes in whole granules. Raises Refused for what never
        fits."""
        rounded = round_up(max(size, 1), pool.granularity)
        most = pool.per_user or pool.capacity
        if rounded > min(most, pool.capacity):
            has = f"pool {pool.name} has: {format_size(pool.capacity)}"
            if rounded <= pool.capacity:
                has = f"one user may have of pool {pool.name}: {format_size(most)}"
            raise Refused("too-large", f"{format_size(size)} is more than {has}")
        return rounded

    def free(self, pool: GranulePool) -> int:
        """Return the bytes that are given to no one; none where the pool was made
        smaller."""
        granules = pool.capacity // pool.granularity * pool.granularity
        given = sum(holder.granted for holder in self._given(pool))
        return max(0, granules - given - self._trash.size(pool))

    def free_for(self, pool: GranulePool, uid: int) -> int:
        """Return the bytes that user ``uid`` may still have now."""
        free = self.free(pool)
        if not pool.per_user:
            return free
        has = sum(each.granted for each in self._given(pool) if each.uid == uid)
        return min(free, max(0, pool.per_user - has))

    def waits_for(self, pool: GranulePool, size: int, uid: int) -> str:
        """Return what ``size`` bytes of user ``uid`` wait for, as a sentence."""
        free = self.free(pool)
        waits = f"waits for {format_size(size)}"
        if size > free:
            return f"{waits}; {format_size(free)} free in pool {pool.name}"
        most = format_size(pool.per_user)
        left = format_size(self.free_for(pool, uid))
        may = f"of the {most} of pool {pool.name} that a user may have"
        return f"{waits}; {may}, {left} are left"

    def as_json(self) -> list[dict[str, Any]]:
        """Return all pools as clients read them, in bytes."""
        return [
            {
                "name": pool.name,
                "granularity": pool.granularity,
                "total": pool.capacity,
                "free": self.free(pool),
                "per_user": pool.per_user or pool.capacity,
            }
            for pool in self._pools.values()
        ]

    def for_slurm(self) -> str:
        """Write the text that slurm_bb_pools returns, in granules (burst_buffer_lua.c,
        _load_pools).

        Slurm takes its own jobs out of ``free`` only until the next call, so ours have
        to be out of it as well.
        """
        shown = [
            {
                "id": pool.name,
                "granularity": pool.granularity,
                "quantity": pool.capacity // pool.granularity,
                "free": self.free(pool) // pool.granularity,
            }
            for pool in self._pools.values()
        ]
        return json.dumps({"pools": shown})
