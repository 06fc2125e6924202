"""bb/phases.json: what has to hold in a DAG in phases, also when it is edited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pegasus_bb.errors import CatalogError
from pegasus_bb.files import read_json
from pegasus_bb.planner.seal.lives import Lives
from pegasus_bb.planner.seal.phases import Phases

PHASES = "phases.json"
# ArithmeticError: json takes Infinity for a number.
_DAMAGED = (
    OSError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
)


def phases_json(phases: Phases) -> dict[str, Any]:
    """As plain values."""
    lives = phases.lives
    used = {lfn: None for lfns in lives.brings.values() for lfn in lfns}
    return {
        "version": 1,
        "limit": phases.limit,
        "barriers": list(phases.barriers),
        "sizes": {lfn: lives.size[lfn] for lfn in used},
        "brings": {node: list(lfns) for node, lfns in lives.brings.items()},
        "removes": {node: list(lfns) for node, lfns in lives.removes.items()},
    }


def read_phases(file: str) -> Phases | None:
    """None where the run has none. Raises CatalogError where it cannot be read."""
    if not os.path.lexists(file):
        return None
    try:
        data = read_json(file)
        sizes = {str(lfn): int(size) for lfn, size in data["sizes"].items()}
        lives = Lives(sizes, _names(data["brings"], sizes), _names(data["removes"]))
        return Phases(int(data["limit"]), tuple(map(str, data["barriers"])), lives)
    except _DAMAGED as error:
        raise CatalogError(
            f"does not say how the run's phases end ({error!r})",
            file,
            would_do="plan again",
        ) from error


def _names(
    data: Mapping[str, Any], sizes: Mapping[str, int] | None = None
) -> dict[str, list[str]]:
    found = {str(node): list(map(str, lfns)) for node, lfns in data.items()}
    if sizes is not None:
        unknown = {lfn for lfns in found.values() for lfn in lfns} - sizes.keys()
        if unknown:
            raise KeyError(min(unknown))
    return found
