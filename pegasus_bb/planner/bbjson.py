"""Small files of <submit>/bb, as either planner writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from pegasus_bb.model.placement import Placement


def placement_json(
    placement: Placement,
    prefix: str,
    scratch: str,
    pfs_scratch: str,
    outputs: Mapping[str, str],
) -> bytes:
    """placement.json: where each file lives, and the results that are promised."""
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
        "outputs": outputs,
    }
    return as_json(data)


def as_json(data: Any) -> bytes:
    """As every small file of bb/ is written."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
