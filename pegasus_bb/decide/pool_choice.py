"""The pool of each file: by its lifetime class, else in the order of BIOS.

Files that die together should be stored together: a flash drive erases many pages at
once, and copies those that are still alive (docs/streams.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.run_times import LifetimeShare
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.pools import CLASSES, Pool
from pegasus_bb.model.tiers import Tier


class PoolUse(NamedTuple):
    """The number of runs with a folder in a pool."""

    runs: int  # of all users
    own: int  # of this user

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Koo et al., BIOS, algorithm 2: an idle pool, else one without runs of this
        user, else the least used. For sorting, best first."""
        return self.runs > 0, self.own > 0, self.runs

    @property
    def reason(self) -> str:
        if not self.runs:
            return "no run is on it"
        return (
            "you are on it, it is the least used" if self.own else "you are not on it"
        )


def pool_use(folder: Path) -> PoolUse:
    """Counts the runs' folders in the pool. One that cannot be read counts as idle."""
    try:
        owners = [path.stat().st_uid for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return PoolUse(0, 0)
    return PoolUse(len(owners), owners.count(os.getuid()))


def with_pools(given: PlanningInput, placement: Placement) -> Placement:
    """``placement`` with the pool of each file on the tier. Reads the pools'
    folders."""
    pools = _Pools(placement.tier)
    share = LifetimeShare(given)
    files = {
        lfn: file if file.tier == PFS else pools.put(file, share)
        for lfn, file in placement.files.items()
    }
    return replace(placement, files=files)


class _Pools:
    def __init__(self, tier: Tier) -> None:
        root = Path(tier.settings["path"])
        uses = {pool.name: pool_use(root / pool.path) for pool in tier.pools}
        self._of_class = [pool for pool in tier.pools if pool.lifetime]
        others = [pool for pool in tier.pools if not pool.lifetime]
        self._others = sorted(others, key=lambda pool: uses[pool.name].rank)
        self._reasons = {name: use.reason for name, use in uses.items()}
        self._left = {pool.name: pool.capacity for pool in tier.pools}

    def put(self, file: PlacedFile, share: LifetimeShare) -> PlacedFile:
        """``file`` in its first pool with room; else unchanged."""
        word = share.class_of(file, CLASSES)
        for pool in self._for(word):
            if self._takes(pool, file.size):
                why = self._reasons[pool.name]
                if pool.lifetime:
                    why = f"{word}: it {share.text(file)}"
                reason = f"{file.reason}; pool {pool.name} ({why})"
                return replace(file, pool=pool.name, reason=reason)
        why = f"; in no pool: none for {word} lives has room (it {share.text(file)})"
        return replace(file, reason=file.reason + why)

    def _for(self, word: str) -> Iterator[Pool]:
        yield from (pool for pool in self._of_class if pool.lifetime == word)
        yield from self._others

    def _takes(self, pool: Pool, size: int | None) -> bool:
        left = self._left[pool.name]
        if left is None:
            return True
        if size is None or size > left:
            return False
        self._left[pool.name] = left - size
        return True
