"""How much a tier has free, as this machine sees it when it plans."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import is_dir
from pegasus_bb.decide.sizing import quota_of
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.local_files import free_at


def free_on(tier: Tier) -> int | None:
    """Bytes that no reservation has, no more than the quota; None where this machine
    cannot tell."""
    path = Path(tier.settings.get("path", "/"))
    if tier.kind.is_one_folder and not is_dir(path):  # the first run makes it
        seen: int | None = free_at(path)
    else:
        seen = _of_backend(tier)
    known = [size for size in (seen, quota_of(tier)) if size is not None]
    return min(known, default=None)


def _of_backend(tier: Tier) -> int | None:
    from pegasus_bb.runtime.backends.backend_table import open_backend  # few ask

    if not tier.is_reserved:
        return None
    try:
        pools = open_backend(tier.backend, tier.settings).pools()
    except (PegasusBBError, OSError, ValueError):  # no Slurm here, or no answer
        return None
    wanted = [p.free for p in pools if p.name == tier.pool] if tier.pool else []
    return next(iter([*wanted, *(p.free for p in pools)]), None)
