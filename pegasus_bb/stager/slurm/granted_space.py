"""Which part of each pool is given to whom, in granules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_size, round_up
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.slurm_config import GranulePool


class Pools:
    """A holder is a persistent buffer, a folder of one life of a job, or a folder that
    an earlier service began to remove."""

    def __init__(self, pools: Sequence[GranulePool]) -> None:
        self._pools = {pool.name: pool for pool in pools}
        self._default = pools[0].name
        self._granted: dict[str, dict[str, int]] = {name: {} for name in self._pools}
        self._owners: dict[str, int] = {}  # uid by holder

    @property
    def all(self) -> list[GranulePool]:
        """In the order of the configuration."""
        return list(self._pools.values())

    def pool(self, name: str) -> GranulePool:
        """The pool ``name``; the default for an empty name. Raises Refused."""
        found = self._pools.get(name or self._default)
        if found is None:
            known = ", ".join(self._pools)
            raise Refused("no-pool", f"no pool {name}; this site has {known}")
        return found

    def rounded(self, name: str, size: int) -> int:
        """``size`` bytes in whole granules. Raises Refused for what never fits."""
        pool = self.pool(name)
        rounded = round_up(max(size, 1), pool.granularity)
        if rounded > pool.capacity:
            raise Refused(
                "too-large",
                f"{format_size(size)} is more than pool {pool.name} has: "
                f"{format_size(pool.capacity)}",
            )
        if pool.per_user and rounded > pool.per_user:
            raise Refused(
                "too-large",
                f"{format_size(size)} is more than one user may have of pool "
                f"{pool.name}: {format_size(pool.per_user)}",
            )
        return rounded

    def grant(self, holder: str, name: str, size: int, uid: int) -> int | None:
        """Bytes granted to ``holder`` of user ``uid``, whole granules; None where there
        is no room for them now. Raises Refused."""
        pool = self.pool(name)
        rounded = self.rounded(name, size)
        granted = self._granted[pool.name]
        if holder not in granted and rounded > self.free_for(pool, uid):
            return None
        self._owners[holder] = uid
        return granted.setdefault(holder, rounded)

    def free_for(self, pool: GranulePool, uid: int) -> int:
        """Bytes that user ``uid`` may still have now."""
        if not pool.per_user:
            return self.free(pool)
        granted = self._granted[pool.name].items()
        has = sum(size for holder, size in granted if self._owners.get(holder) == uid)
        return min(self.free(pool), max(0, pool.per_user - has))

    def is_full_for_all(self, pool: GranulePool, size: int) -> bool:
        """Whether ``size`` bytes wait for room, and not for the limit of their user."""
        return size > self.free(pool)

    def waits_for(self, pool: GranulePool, size: int, uid: int) -> str:
        """What ``size`` bytes of user ``uid`` wait for, as a sentence."""
        if self.is_full_for_all(pool, size):
            free = f"{format_size(self.free(pool))} free in pool {pool.name}"
            return f"waits for {format_size(size)}; {free}"
        most = format_size(pool.per_user)
        left = format_size(self.free_for(pool, uid))
        return (
            f"waits for {format_size(size)}; of the {most} of pool {pool.name} that a "
            f"user may have, {left} are left"
        )

    def restore(
        self, holder: str, name: str, size: int, uid: int | None = None
    ) -> None:
        """``holder`` has ``size`` bytes since before the service was started; 0: it
        waits for some. Without ``uid`` they count for no user. Raises UsageError where
        the pool was taken away meanwhile."""
        if name not in self._pools:
            raise UsageError(
                f"pool {name} is not in the configuration, and {holder} is a buffer of "
                "it; declare the pool until its last buffer is deleted"
            )
        if size:
            self._granted[name][holder] = size
            if uid is not None:
                self._owners[holder] = uid

    def release(self, holder: str, name: str) -> None:
        """Take back what ``holder`` has; nothing is fine."""
        self._granted.get(name, {}).pop(holder, None)
        self._owners.pop(holder, None)

    def free(self, pool: GranulePool) -> int:
        """Bytes that are given to no one; none where the pool was made smaller."""
        granules = pool.capacity // pool.granularity * pool.granularity
        return max(0, granules - sum(self._granted[pool.name].values()))

    def as_json(self) -> list[dict[str, Any]]:
        """For clients, in bytes."""
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
        """What slurm_bb_pools returns, in granules (burst_buffer_lua.c, _load_pools).

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
