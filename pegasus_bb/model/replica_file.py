"""Replica catalogs of the form File: a line for each replica.

f.in  file:///data/f.in  site="cluster"  size="120"
"a b" "/data/a b"        pool="local"
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Data, Document, read_text

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_WORD = rf"({_QUOTED}|[^\s\"]\S*)"
_LINE = re.compile(rf"\s*{_WORD}\s+{_WORD}((?:\s+[^\s=\"]+={_WORD})*)\s*")
_ATTRIBUTE = re.compile(rf"([^\s=\"]+)={_WORD}")
_ESCAPED = re.compile(r"\\(.)")
_SITE = ("site", "pool")


def load_replicas(path: Path, variables: Mapping[str, str]) -> Document:
    """Read ``path``. The text of the document is the same catalog as YAML, line by
    line, so that errors name the lines of the file. Raises CatalogError."""
    entries: dict[str, Data] = {}
    first: dict[int, Data] = {}
    lines = read_text(path, variables).split("\n")
    for number, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            entry = _entry(line, path, number + 1)
            known = entries.setdefault(entry["lfn"], entry)
            if known is entry:
                first[number] = entry
            else:
                known["pfns"] += entry["pfns"]
    rows = (json.dumps(first[n]) + "," if n in first else "" for n in range(len(lines)))
    text = '{"replicas": [' + "\n".join(rows) + "]}"
    data = {"pegasus": "5.0", "replicas": [*entries.values()]}
    return Document(path, data, text)


def _entry(line: str, path: Path, number: int) -> Data:
    match = _LINE.fullmatch(line)
    if match is None:
        raise CatalogError(
            "is no replica",
            str(path),
            number,
            found=line.strip(),
            would_do='LFN PFN site="SITE"',
        )
    found: dict[str, str] = dict(_ATTRIBUTE.findall(match[3]))
    attributes = {key: _unquoted(value) for key, value in found.items()}
    pfn: Data = {"pfn": _unquoted(match[2])}
    for key in _SITE:
        if key in attributes:
            pfn["site"] = attributes.pop(key)
    entry: dict[str, Any] = {"lfn": _unquoted(match[1]), "pfns": [pfn]}
    if attributes.pop("regex", "false").lower() == "true":
        entry["regex"] = True
    kind = attributes.pop("checksum.type", "sha256")
    if "checksum.value" in attributes:
        entry["checksum"] = {kind: attributes.pop("checksum.value")}
    return {**entry, "metadata": attributes} if attributes else entry


def _unquoted(word: str) -> str:
    return _ESCAPED.sub(r"\1", word[1:-1]) if word.startswith('"') else word
