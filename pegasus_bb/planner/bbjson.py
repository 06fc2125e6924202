"""Small files of <submit>/bb."""

from __future__ import annotations

from typing import Any

import orjson


def as_json(data: Any) -> bytes:
    """As every small file of bb/ is written."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
