"""What a run would take in each mode, where anybody says how fast the storage is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pegasus_bb.errors import CatalogError, UsageError
from pegasus_bb.model.catalogs import environment
from pegasus_bb.model.document import Key, load
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.speeds import KEY, Speeds, read_speeds
from pegasus_bb.placement import automatic_capacity, place_files, reserve_rooms
from pegasus_bb.planner.choices import choose_tier
from pegasus_bb.planner.deciding import Decided, read_and_place
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.prediction import (
    Predicted,
    Prediction,
    Workload,
    choose,
    corrected,
    predict_off,
    predict_persistent,
    predict_transient,
    workload,
)


def predict(decided: Decided) -> Predicted | None:
    """None where there are no speeds, or no tier. In mode off: as if a tier were used.

    Raises CatalogError and UsageError.
    """
    speeds = _speeds(decided)
    placement = None if speeds is None else decided.placement or _on_a_tier(decided)
    if speeds is None or placement is None:
        return None
    if placement.tier.name not in speeds.places:
        raise CatalogError(
            f"there are speeds of site {decided.site.name}, but none of tier "
            f"{placement.tier.name}",
            file=speeds.said_by,
            would_do=f"{placement.tier.name}: {{read: 8GB/s, write: 6GB/s}}",
        )
    history = decided.history
    work = workload(decided.workflow, decided.graph, placement.files, speeds, history)
    modes = _corrected(tuple(_modes(decided, placement, work, speeds)), history)
    refused = _refused(decided, placement)
    able = [found for found in modes if not refused or found.mode != "transient"]
    return Predicted(
        modes,
        choose(able),
        refused,
        speeds.said_by,
        history.said_by,
        work.unknown_sizes,
        work.unknown_times,
    )


def chosen_mode(options: PlanOptions) -> tuple[PlanOptions, Predicted]:
    """``options`` with the mode that ``--bb-mode auto`` comes to.

    Raises UsageError: no speeds to choose by, and all that planning raises.
    """
    placed = read_and_place(options)
    predicted = predict(placed)
    if predicted is None:
        raise placed.catalogs.sites.document.error(
            "--bb-mode auto compares how long a run would take, and nobody says how "
            f"fast the storage of site {placed.site.name} is",
            [KEY],
            would_do=f"declare {KEY}, or --bb-speeds FILE (docs/prediction.md)",
        )
    said = {**options.said, "pegasus.bb.mode": predicted.choice.mode}
    return replace(options, said=said), predicted


def _on_a_tier(decided: Decided) -> Placement | None:
    """Of a run that uses none. Its tiers may be wrong: nobody has asked for them."""
    catalogs, settings, site = decided.catalogs, decided.settings, decided.site.name
    if not catalogs.tiers.get(site):
        return None
    try:
        tier = choose_tier(catalogs, settings, site)
        return place_files(
            decided.workflow,
            decided.graph,
            catalogs,
            tier,
            settings,
            decided.history.sizes,
        )
    except UsageError:
        return None


def _modes(
    decided: Decided, placement: Placement, work: Workload, speeds: Speeds
) -> Iterator[Prediction]:
    headroom = decided.settings.headroom
    yield predict_off(work, placement, speeds)
    need = sum(work.sizes.get(lfn, 0) for lfn in _on_tier(placement))
    capacity = automatic_capacity(placement.tier, headroom, need)
    if decided.settings.mode == "persistent":
        capacity = placement.capacity or capacity
    yield predict_persistent(work, placement, speeds, capacity)
    yield predict_transient(work, placement, speeds, headroom)


def _refused(decided: Decided, placement: Placement) -> str:
    """Why the workflow cannot be planned in mode transient; empty where it can."""
    try:
        reserve_rooms(decided.workflow, decided.catalogs, decided.settings, placement)
    except CatalogError as error:
        return str(error)
    return ""


def _corrected(
    modes: tuple[Prediction, ...], history: History
) -> tuple[Prediction, ...]:
    """By what the earlier run took in its own mode."""
    own = "off" if history.place == PFS else "persistent"
    told = next(found.makespan for found in modes if found.mode == own)
    return tuple(corrected(found, told, history.makespan) for found in modes)


def _on_tier(placement: Placement) -> Iterator[str]:
    return (lfn for lfn in placement.files if placement.on_tier(lfn))


def _speeds(decided: Decided) -> Speeds | None:
    given, site = decided.settings.speeds, decided.site.name
    if given is None:
        return read_speeds(decided.catalogs.sites.document, (KEY,), site)
    document = load(given, environment(decided.catalogs.properties))
    root: tuple[Key, ...] = (KEY,) if KEY in document.data else ()
    found = read_speeds(document, root, site)
    if found is None:
        raise document.error(
            f"there are no speeds of site {site}",
            root,
            would_do=f"{site}: {{pfs: ...}}",
        )
    return found
