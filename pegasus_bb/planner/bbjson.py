"""Small files of <submit>/bb, as either planner writes them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import orjson

from pegasus_bb.model.placement import Placement


def placement_json(
    placement: Placement,
    prefix: str,
    scratch: str,
    pfs_scratch: str,
    outputs: Mapping[str, str],
    later: Set[str] = frozenset(),
    earlier: Set[str] = frozenset(),
) -> bytes:
    """placement.json: where each file lives, and the results that are promised;
    ``later`` are those that nobody waits for before the reservation is given back,
    ``earlier`` those that are staged out by nodes which run before it is asked for."""
    files = {
        lfn: {"tier": placed.tier, "how": placed.how, "size": placed.size}
        for lfn, placed in placement.files.items()
    }
    data = {
        "version": 1,
        "prefix": prefix,
        "scratch": scratch,
        "pfs_scratch": pfs_scratch,
        "files": files,
        "outputs": {n: place for n, place in outputs.items() if n not in later},
    }
    if placement.opening is not None and placement.opening.files:
        data["before"] = sorted(placement.opening.files)
    carried = placement.closing.files if placement.closing else ()
    if carried:
        data["carried"] = sorted(lfn for lfn in carried if placement.on_tier(lfn))
    if earlier:
        data["earlier"] = sorted(earlier)
    if later:
        data["later"] = {n: place for n, place in outputs.items() if n in later}
    return as_json(data)


def as_json(data: Any) -> bytes:
    """As every small file of bb/ is written."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
