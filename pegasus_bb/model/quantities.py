"""Reads single quantities of a file. An error names the line and the key.

All functions raise CatalogError.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.units import parse_duration
from pegasus_bb.model.document import Document, Entry, suggestion

MOST = 1_000_000  # of what a simulation keeps in memory: nodes, pipelines
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_SHORT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Source:
    """The file of a setting, so that errors of the simulation can name its lines."""

    name: str = ""
    document: Document | None = None

    def error(
        self,
        what: str,
        keys: Sequence[object] = (),
        found: object = "",
        would_do: str = "",
    ) -> CatalogError:
        if self.document is not None:
            return self.document.error(what, keys, found, would_do)
        key = ".".join(map(str, keys))
        return CatalogError(
            what, self.name, 0, key=key, found=str(found), would_do=would_do
        )

    def __str__(self) -> str:
        return self.name


def check_mapping(entry: Entry, known: Collection[str], needs: Collection[str]) -> None:
    """Check that ``entry`` is a mapping with ``known`` keys and with all of
    ``needs``."""
    last = entry.at[-1:] if not entry.at or isinstance(entry.at[-1], str) else entry.at
    what = ".".join(map(str, last)) or "the file"
    if not isinstance(entry.data, dict):
        raise entry.error(f"{what} is a mapping", would_do=f"keys: {', '.join(known)}")
    entry.check_keys(known, what)
    for key in needs:
        if entry.data.get(key) is None:
            raise entry.error(f"{what} without {key}", "", f"add {key}")


def read_count(
    entry: Entry,
    key: str,
    default: int | None = None,
    most: int = MOST,
    least: int = 1,
) -> int:
    """A whole number from ``least`` to ``most``."""
    value = entry.data.get(key, default)
    if type(value) is not int or not least <= value <= most:
        what = f"{key} is a whole number from {least} to {most}"
        raise entry.below(key).error(what, would_do=_unquoted(value))
    return value


def read_number(
    entry: Entry, key: str, least: float, most: float, default: float | None = None
) -> float:
    """A number from ``least`` to ``most``. ``default`` may be beyond."""
    if default is not None and key not in entry.data:
        return default
    value = entry.data.get(key)
    if type(value) not in (int, float) or not least <= value <= most:
        what = f"{key} is a number from {least:g} to {most:g}"
        raise entry.below(key).error(what, would_do=_unquoted(value))
    return float(value)


def read_positive(entry: Entry, key: str, most: float) -> float:
    """A number above zero, and not above ``most``."""
    value = entry.data.get(key)
    if type(value) not in (int, float) or not 0 < value <= most:
        what = f"{key} is a number above 0 and not above {most:g}"
        raise entry.below(key).error(what, would_do=_unquoted(value))
    return float(value)


def _unquoted(value: object) -> str:
    """What would do in the place of a text that is a number."""
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return f"{value}, without quotes" if is_number else ""


def read_seconds(
    entry: Entry, key: str, would_do: str, most: float = math.inf
) -> float:
    """A duration above zero, and not above ``most``."""
    at = entry.below(key)
    try:
        seconds = parse_duration(at.data)
    except UsageError as error:
        raise at.error(str(error), would_do=would_do) from error
    if seconds <= 0:
        raise at.error(f"{key} is a time above zero", would_do=would_do)
    if seconds > most:
        what = f"{key} is at most {most / 86400:.0f} days"
        raise at.error(what, would_do=would_do)
    return float(seconds)


def read_short_time(entry: Entry, key: str, what: str, would_do: str) -> float:
    """Seconds of a time such as 2ms, which is ``what``; 0 if there is none."""
    match = _SHORT.fullmatch(str(entry.data.get(key, "0s")))
    if match is None:
        raise entry.below(key).error(f"not a {what}", would_do=would_do)
    return float(match[1]) * _SECONDS[match[2]]


def read_size(entry: Entry, key: str) -> int:
    """Bytes, above zero."""
    size = entry.below(key).size()
    if size < 1:
        raise entry.below(key).error(f"{key} is above zero", would_do="such as 64MB")
    return size


def read_choice(entry: Entry, key: str, known: Collection[str], default: str) -> str:
    value = str(entry.data.get(key, default))
    if value not in known:
        raise entry.below(key).error(
            f"no such {key}", would_do=suggestion(value, known)
        )
    return value
