"""What a planning chose, and where each choice was said."""

from __future__ import annotations

from collections.abc import Sequence

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import AUTO, PREFIX, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement import PlacementDecision, PlanningInput, wanted_capacity
from pegasus_bb.placement.decision import Selection
from pegasus_bb.planner.interpreter import untried
from pegasus_bb.units import format_size

_SHOWN = 3  # LFNs


def summary(given: PlanningInput) -> tuple[str, ...]:
    """Lines for a person: mode, tier, capacity; what stays unused, untried."""
    catalogs, settings, site = given.catalogs, given.settings, given.site.name
    decision = given.decision
    mode = f"mode:     {settings.mode} ({_origin(catalogs, 'mode') or 'the default'})"
    python = untried(settings.python)
    if decision is None:
        return (mode, *unused(catalogs.tiers.get(site, []), settings), *python)
    placement, tier = decision.placement, decision.placement.tier
    chosen = _origin(catalogs, "tier") or f"the first of {_sites(catalogs)}"
    return (
        mode,
        f"tier:     {tier.name} of site {site}, {tier.backend} ({chosen})",
        _capacity(catalogs, settings, placement),
        *fit_lines(decision),
        *room_lines(decision),
        *_unknown_sizes(placement),
        *python,
    )


def unused(tiers: Sequence[Tier], settings: Settings) -> list[str]:
    """What mode off leaves aside of a site's ``tiers``; no line where it has none."""
    named = [tier for tier in tiers if tier.name == settings.tier]
    return [
        f"mode off: tier {tier.name} of site {tier.site} is not used; "
        "--bb-mode persistent uses it"
        for tier in [*named, *tiers][:1]
    ]


def _capacity(catalogs: Catalogs, settings: Settings, placement: Placement) -> str:
    if settings.mode == "transient":
        return _per_job(catalogs, settings, placement)
    size, tier = placement.capacity, placement.tier
    origin = _origin(catalogs, "capacity") or f"tier {tier.name} in {_sites(catalogs)}"
    if wanted_capacity(tier, settings) == AUTO:
        headroom = _origin(catalogs, "headroom") or "the default"
        origin = (
            f"auto: {format_size(placement.need)} of files and {settings.headroom} % "
            f"headroom ({headroom}); {origin}"
        )
    steps = f"in steps of {format_size(tier.granularity)}"
    return f"capacity: {format_size(size)} = {size} bytes, {steps} ({origin})"


def _per_job(catalogs: Catalogs, settings: Settings, placement: Placement) -> str:
    sizes = [room.capacity for room in placement.job_reservations.values()]
    if not sizes:
        return "capacity: none: no job has a file on the tier"
    origin = _origin(catalogs, "capacity") or f"tier {placement.tier.name} in "
    origin += "" if _origin(catalogs, "capacity") else _sites(catalogs)
    how = "auto: files of the job" if _is_auto(settings, placement) else "as given"
    each = f"{_span_of(sizes)} for each of {len(sizes)} jobs"
    if not placement.tier.is_reserved:
        each += ", free on its node: nothing is reserved"
    return f"capacity: {each} ({how}; {origin})"


def _is_auto(settings: Settings, placement: Placement) -> bool:
    return wanted_capacity(placement.tier, settings) == AUTO


def fit_lines(decision: PlacementDecision) -> list[str]:
    """How the files fit into a capacity below their sum; none where they just do."""
    placement, moved = decision.placement, decision.moved
    phases = placement.phases
    lines = []
    if phases is not None and phases.count > 1:
        most = format_size(phases.peak)
        lines.append(
            f"phases:   {phases.count}, at most {most} on the tier; each begins when "
            "the clean-ups of the one before have ended"
        )
    if moved is not None:
        size = sum(placement.files[lfn].size or 0 for lfn in moved.lfns)
        lines.append(
            f"moved:    {len(moved.lfns)} files, {format_size(size)}, to the PFS, for "
            f"capacity is short; tasks read and write {format_size(moved.benefit)} of "
            "the others on the tier"
        )
    return lines


def room_lines(decision: PlacementDecision) -> list[str]:
    """Mode hybrid: how many jobs have a room, and what that saves."""
    placement, selection = decision.placement, decision.selection
    if selection is None:
        return []
    sizes = [room.capacity for room in placement.job_reservations.values()]
    if selection.why_none or not selection.asked:
        why = selection.why_none or "no file lives and dies with one job"
        return [f"rooms:    none: {why}"]
    if not sizes:
        return [
            f"rooms:    none: for {selection.asked} jobs a room was looked at, and "
            f"would {_no_gain(placement)}; {_figures(selection)}"
        ]
    on = placement.other_tier
    where = f" on tier {on.name}, {on.backend}" if on else ""
    return [
        f"rooms:    {len(sizes)} of {selection.asked} jobs with files of their own, "
        f"{_span_of(sizes)} each{where}; {_figures(selection)}"
    ]


def _no_gain(placement: Placement) -> str:
    reserved = placement.job_tier.is_reserved
    return "take more than it saves" if reserved else "save nothing"


def _figures(selection: Selection) -> str:
    persistent, shared = int(selection.persistent), int(selection.shared)
    own = int(selection.job_reservations)
    rooms = f" and {format_size(own)} in rooms" if own else ""
    return (
        f"bytes x {selection.unit} reserved: {format_size(shared)} shared{rooms}; in "
        f"mode persistent {format_size(persistent)}"
    )


def _span_of(sizes: Sequence[int]) -> str:
    each = format_size(min(sizes))
    return each if max(sizes) == min(sizes) else f"{each} to {format_size(max(sizes))}"


def _unknown_sizes(placement: Placement) -> list[str]:
    """With a capacity that was given nobody has to know them: then it is said."""
    unknown = placement.unknown
    if not unknown:
        return []
    here = sum(placement.on_tier(lfn) for lfn in placement.files)
    shown = ", ".join(unknown[:_SHOWN]) + (", ..." if len(unknown) > _SHOWN else "")
    return [
        f"sizes:    not known for {len(unknown)} of {here} files on the tier "
        f"({shown}); the capacity has to hold them, too"
    ]


def _origin(catalogs: Catalogs, name: str) -> str:
    return catalogs.properties.origin(PREFIX + name)


def _sites(catalogs: Catalogs) -> str:
    return catalogs.sites.document.path.name
