"""Which part of each pool is given to whom, in granules."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

from pegasus_bb.errors import UsageError
from pegasus_bb.service.protocol import Refused
from pegasus_bb.service.slurm.config import Pool
from pegasus_bb.units import format_size, round_up


class Pools:
    """A holder is a persistent buffer, a folder of one life of a job, or a folder that
    an earlier service began to remove."""

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = {pool.name: pool for pool in pools}
        self._default = pools[0].name
        self._granted: Dict[str, Dict[str, int]] = {name: {} for name in self._pools}

    @property
    def all(self) -> List[Pool]:
        """In the order of the configuration."""
        return list(self._pools.values())

    def pool(self, name: str) -> Pool:
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
        return rounded

    def grant(self, holder: str, name: str, size: int) -> Optional[int]:
        """Bytes granted to ``holder``, whole granules; None where there is no room now.
        Raises Refused."""
        pool, rounded = self.pool(name), self.rounded(name, size)
        granted = self._granted[pool.name]
        if holder not in granted and rounded > self.free(pool):
            return None
        return granted.setdefault(holder, rounded)

    def restore(self, holder: str, name: str, size: int) -> None:
        """``holder`` has ``size`` bytes since before the service was started; 0: it
        waits for some. Raises UsageError where the pool was taken away meanwhile."""
        if name not in self._pools:
            raise UsageError(
                f"pool {name} is not in the configuration, and {holder} is a buffer of "
                "it; declare the pool until its last buffer is deleted"
            )
        if size:
            self._granted[name][holder] = size

    def release(self, holder: str, name: str) -> None:
        """Take back what ``holder`` has; nothing is fine."""
        self._granted.get(name, {}).pop(holder, None)

    def free(self, pool: Pool) -> int:
        """Bytes that are given to no one; none where the pool was made smaller."""
        granules = pool.capacity // pool.granularity * pool.granularity
        return max(0, granules - sum(self._granted[pool.name].values()))

    def as_json(self) -> List[Dict[str, Any]]:
        """For clients, in bytes."""
        return [
            {
                "name": pool.name,
                "granularity": pool.granularity,
                "total": pool.capacity,
                "free": self.free(pool),
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
