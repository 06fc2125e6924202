"""Text of YAML or JSON to data, fast, with a line for what cannot be read.

Pegasus's conventions: only true and false are booleans, dates stay text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
from ryaml import InvalidYamlError, loads  # type: ignore[attr-defined]

from pegasus_bb.errors import CatalogError


def parse(text: str, path: Path) -> Any:
    """What ``text``, the contents of ``path``, says. Raises CatalogError."""
    if text.lstrip().startswith("{"):
        try:
            return orjson.loads(text)
        except ValueError:
            pass  # flow-style YAML begins with a brace as well
    try:
        data = loads(text)
        # The fast reader leaves YAML 1.1's merge keys as they stand.
        return _merged(data) if "<<" in text else data
    except (InvalidYamlError, ValueError, TypeError, RecursionError) as error:
        from pegasus_bb.model.lines import fault_line  # its import costs

        said = str(error)
        named = re.search(r"line (\d+)", said)
        raise CatalogError(
            f"is not YAML: {said.splitlines()[0] if said else 'nested too deeply'}",
            file=str(path),
            line=int(named.group(1)) if named else fault_line(text),
        ) from error


def plain(value: object) -> str:
    """A single value as Pegasus turns it into text: ``true``, not ``True``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _merged(data: Any) -> Any:
    if isinstance(data, list):
        return [_merged(item) for item in data]
    if not isinstance(data, dict):
        return data
    own = {key: _merged(value) for key, value in data.items() if key != "<<"}
    if "<<" not in data:
        return own
    sources = data["<<"] if isinstance(data["<<"], list) else [data["<<"]]
    if not all(isinstance(source, dict) for source in sources):
        return {"<<": data["<<"], **own}
    below: dict[Any, Any] = {}
    for source in reversed(sources):
        below.update(_merged(source))
    return {**below, **own}
