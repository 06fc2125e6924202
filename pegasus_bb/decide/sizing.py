"""How much to reserve: the bytes of all files on the tier.

The sum over all files is enough in any order of the jobs and with any cleanup. An order
may have a smaller peak, but nothing enforces it, unless the user gives less capacity:
then fitting.py does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import MIB, format_size, parse_size, room_for, round_up
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.survey import searched_pfns
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.properties import AUTO, Settings
from pegasus_bb.model.tiers import Tier

_PROPERTY = "pegasus.bb.capacity"
_LIMIT = 1 << 62  # Slurm counts in 64 bits, and adds requests up


def wanted_capacity(tier: Tier, settings: Settings) -> int:
    """The bytes that the user wants, in whole granules: so many will be reserved. Or
    AUTO."""
    return round_up(given_capacity(tier, settings), tier.granularity)


def given_capacity(tier: Tier, settings: Settings) -> int:
    """The bytes that the user gave, or AUTO: from the setting, else from the tier."""
    if settings.capacity is not None:
        return settings.capacity
    return AUTO if tier.capacity is None else tier.capacity


def automatic_capacity(tier: Tier, headroom: int, need: int) -> int:
    """``need`` and ``headroom`` per cent, rounded up; one granule at least."""
    return room_for(need, headroom, tier.granularity)


def choose_capacity(
    given: PlanningInput, tier: Tier, need: int, unknown: Sequence[str]
) -> int:
    """Bytes to reserve, a multiple of the granule.

    Raises CatalogError: auto with unknown sizes, a capacity below ``need``, above
    what the tier has, or beyond counting.
    """
    wanted = wanted_capacity(tier, given.settings)
    if wanted == AUTO:
        if unknown:
            raise unknown_sizes(given, tier, unknown, need)
        capacity = automatic_capacity(tier, given.settings.headroom, need)
    else:
        if wanted < need:
            raise too_small(given, tier, need)
        capacity = wanted
    _check_limits(given, tier, capacity)
    return capacity


def _error(
    given: PlanningInput, tier: Tier, what: str, found: object, would_do: str
) -> CatalogError:
    """An error about the capacity, at the property or the tier that sets it."""
    properties, entry = given.catalogs.properties, given.catalogs.tier_entry(tier)
    if given.settings.capacity is not None and _PROPERTY in properties:
        return properties.error(_PROPERTY, what, would_do)
    return entry.below("capacity").error(what, found, would_do)


def unknown_sizes(
    given: PlanningInput, tier: Tier, unknown: Sequence[str], need: int
) -> CatalogError:
    """``need``: bytes of the files whose size is known."""
    wanted = wanted_capacity(tier, given.settings)
    first = sorted(unknown)[:10]
    names = [_with_searched_pfns(lfn, given.catalogs, tier.site) for lfn in first]
    shown = ", ".join(names) + (", ..." if len(unknown) > 10 else "")
    learn = (
        "learn the sizes from one run (--bb-history SUBMIT_DIR), or write them into "
        "the workflow (`pegasus-bb sizes`)"
    )
    if wanted == AUTO:
        what = (
            "an automatic capacity needs the size of every file on tier "
            f"{tier.name}; it is not known for {len(unknown)}: {shown}"
        )
        would_do = (
            f"say how much to reserve, such as {example_option(tier)}; or {learn}"
        )
        return _error(given, tier, what, "auto", would_do)
    have = "file has" if len(unknown) == 1 else "files have"
    what = (
        f"{format_size(wanted)} is less than the {format_size(need)} that are known to "
        f"be needed on tier {tier.name}, and {len(unknown)} {have} no known size: "
        f"{shown}"
    )
    return _error(given, tier, what, wanted, f"reserve more, or {learn}")


def example_option(tier: Tier) -> str:
    """An option for an error's text; its capacity is within the quota of ``tier``."""
    quota = quota_of(tier)
    is_less = quota is not None and quota < 64 * MIB
    return f"--bb-capacity {tier.settings['quota'] if is_less else '64MiB'}"


def _with_searched_pfns(lfn: str, catalogs: Catalogs, site: str) -> str:
    places = searched_pfns(lfn, catalogs.replicas, site)
    return f"{lfn} (no file here at {' or '.join(places)})" if places else lfn


def too_small(
    given: PlanningInput, tier: Tier, need: int, which: str = ""
) -> CatalogError:
    wanted = wanted_capacity(tier, given.settings)
    return _error(
        given,
        tier,
        f"the capacity of {format_size(wanted)} ({wanted} bytes) is below what the "
        f"files on tier {tier.name}{which} need, {format_size(need)} ({need} bytes)",
        wanted,
        "more capacity, or auto, or files on the PFS (bb.tier: pfs)",
    )


def _check_limits(given: PlanningInput, tier: Tier, capacity: int) -> None:
    if capacity > _LIMIT:
        what = "no scheduler can count so many bytes"
        raise _error(given, tier, what, capacity, f"such as {example_option(tier)}")
    quota = quota_of(tier)
    if quota is not None and capacity > quota:
        raise _error(
            given,
            tier,
            f"{format_size(capacity)} ({capacity} bytes) would be reserved, but the "
            f"quota of tier {tier.name} is {format_size(quota)} ({quota} bytes)",
            capacity,
            "a larger quota, files on the PFS (bb.tier: pfs), or --bb-capacity within "
            "the quota: jobs then run in phases (docs/placement.md)",
        )


def quota_of(tier: Tier) -> int | None:
    """The bytes that the tier grants at most; None if it declares no quota."""
    quota = tier.settings.get("quota")
    return None if quota is None else parse_size(quota)
