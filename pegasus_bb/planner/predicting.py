"""What a run would take in each mode, if the speed of the storage is declared."""

from __future__ import annotations

from dataclasses import replace

from pegasus_bb.model.speeds import KEY
from pegasus_bb.placement import PlanningInput
from pegasus_bb.planner.deciding import read_and_place
from pegasus_bb.planner.foreseen import MODES, foreseen
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.prediction import Compared, Predicted, choose


def predict(decided: PlanningInput) -> Predicted | None:
    """Of the mode that is planned: what plan.json notes. None where there are no
    speeds, or no tier. Raises CatalogError and UsageError."""
    known = foreseen(decided)
    if known is None:
        return None
    return Predicted(
        (known.of(decided.settings.mode),),
        known.speeds.said_by,
        decided.history.said_by,
        known.work.unknown_sizes,
        known.work.unknown_times,
    )


def compare(decided: PlanningInput) -> Compared | None:
    """Of every mode, for a person. None, and raises, as ``predict``."""
    known = foreseen(decided)
    if known is None:
        return None
    modes = tuple(known.of(mode) for mode in MODES)
    refusals = ((mode, known.refusal(mode)) for mode in MODES)
    refused = {mode: why for mode, why in refusals if why}
    return Compared(
        modes,
        known.speeds.said_by,
        decided.history.said_by,
        known.work.unknown_sizes,
        known.work.unknown_times,
        choose([found for found in modes if found.mode not in refused]),
        refused,
    )


def chosen_mode(options: PlanOptions) -> tuple[PlanOptions, Compared]:
    """``options`` with the mode that ``--bb-mode auto`` comes to.

    Raises UsageError: no speeds to choose by, and all that planning raises.
    """
    placed = read_and_place(options)
    compared = compare(placed)
    if compared is None:
        raise placed.catalogs.sites.document.error(
            "--bb-mode auto compares how long a run would take, and no speeds are "
            f"declared of the storage of site {placed.site.name}",
            [KEY],
            would_do=f"declare {KEY}, or --bb-speeds FILE (docs/prediction.md)",
        )
    said = {**options.said, "pegasus.bb.mode": compared.choice.mode}
    return replace(options, said=said), compared
