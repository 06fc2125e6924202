"""Whether a tier would hold the files."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import is_dir
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.finding import Finding, note, wrong
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.reservation import SLURM_LUA
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.local_files import of_directory
from pegasus_bb.run.check.pool_flash import of_pools
from pegasus_bb.run.check.slurm_lua_setup import of_slurm_lua
from pegasus_bb.run.check.slurm_setup import of_slurm
from pegasus_bb.runtime.backends.backend_table import open_backend


def of_tier(
    catalogs: Catalogs, tier: Tier, mode: str, placement: Placement | None
) -> Iterator[Finding]:
    """Whether its backend would grant what ``placement`` asks for; None if that is not
    known."""
    if not tier.is_reserved:
        path = tier.settings["path"]
        what = f"{path} is looked at on each node, when a job starts there"
        if "$" in path or is_dir(path):
            yield note("tier", what)
        else:
            mend = f"{path} on every machine where jobs start, this one if it is one"
            yield note("tier", f"{what}; on this machine it is not", mend)
        return
    try:
        open_backend(tier.backend, tier.settings)
    except PegasusBBError as error:
        yield wrong("tier", str(error))
        return
    if tier.backend == SLURM_LUA:
        yield from of_slurm_lua(tier, placement)
    elif tier.backend == "datawarp":
        yield from of_slurm(tier, mode, placement)
    else:
        yield of_directory(catalogs, tier, placement.capacity if placement else 0)
        yield from of_pools(tier)
