"""Readers of single quantities of a file. An error names the line and the key.

Each function makes the reader of one key: it takes the value's Entry, and raises
CatalogError.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.model.document import Document, Entry, suggestion

T = TypeVar("T")
Reader: TypeAlias = Callable[[Entry], T]

MOST = 1_000_000  # of what a simulation keeps in memory: nodes, pipelines
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_SHORT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(us|ms|s)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
_NONE = ("0", "0s", "0m", "0h")


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


def count(most: int = MOST, least: int = 1) -> Reader[int]:
    """A whole number from ``least`` to ``most``."""
    what = f"a whole number from {least} to {most}"
    return _number(int, lambda value: least <= value <= most, what)


def number(least: float, most: float) -> Reader[float]:
    """A number from ``least`` to ``most``."""
    what = f"a number from {least:g} to {most:g}"
    return _number(float, lambda value: least <= value <= most, what)


def positive(most: float) -> Reader[float]:
    """A number above zero, and not above ``most``."""
    what = f"a number above 0 and not above {most:g}"
    return _number(float, lambda value: 0 < value <= most, what)


def _number(
    kind: Callable[[Any], T], fits: Callable[[Any], bool], what: str
) -> Reader[T]:
    kinds = (int,) if kind is int else (int, float)

    def read(entry: Entry) -> T:
        if type(entry.data) not in kinds or not fits(entry.data):
            would_do = _unquoted(entry.data)
            raise entry.error(f"{entry.key} is {what}", would_do=would_do)
        return kind(entry.data)

    return read


def _unquoted(value: object) -> str:
    """What would do in the place of a text that is a number."""
    is_number = isinstance(value, str) and _NUMBER.fullmatch(value)
    return f"{value}, without quotes" if is_number else ""


def percent(read: Reader[float]) -> Reader[float]:
    """A share, written in per cent."""
    return lambda entry: read(entry) / 100


def seconds(
    would_do: str, most: float = math.inf, *, may_be_none: bool = False
) -> Reader[float]:
    """A duration above zero, and not above ``most``."""

    def read(entry: Entry) -> float:
        if may_be_none and str(entry.data) in _NONE:
            return 0.0
        try:
            found = parse_duration(entry.data)
        except UsageError as error:
            raise entry.error(str(error), would_do=would_do) from error
        if found <= 0:
            raise entry.error(f"{entry.key} is a time above zero", would_do=would_do)
        if found > most:
            what = f"{entry.key} is at most {most / 86400:.0f} days"
            raise entry.error(what, would_do=would_do)
        return float(found)

    return read


def short_time(what: str, would_do: str) -> Reader[float]:
    """Seconds of a time such as 2ms, which is ``what``."""

    def read(entry: Entry) -> float:
        match = _SHORT.fullmatch(str(entry.data))
        if match is None:
            raise entry.error(f"not a {what}", would_do=would_do)
        return float(match[1]) * _SECONDS[match[2]]

    return read


def size(would_do: str = "") -> Reader[int]:
    """Bytes, above zero."""

    def read(entry: Entry) -> int:
        found = entry.size(would_do=would_do)
        if found < 1:
            raise entry.error(f"{entry.key} is above zero", would_do="such as 64MB")
        return found

    return read


_RATE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([A-Za-z]*)(?:/s)?")
_BITS = re.compile(r"([KMGT])b(?:it)?")


def rate(entry: Entry) -> float:
    """Bytes per second, above zero. No rate goes to Slurm, so it may be a decimal."""
    match = _RATE.fullmatch(str(entry.data).strip())
    if match is None:
        raise entry.error("not a speed", would_do="such as 800MB/s or 1.5GB/s")
    number, unit = float(match[1]), match[2]
    if bits := _BITS.fullmatch(unit):
        raise entry.error(
            f"{unit} are bits",
            would_do=f"{number / 8:g}{bits[1]}B/s for so many bits, "
            f"{number:g}{bits[1]}B/s for bytes",
        )
    if not number:
        raise entry.error("a speed above zero is needed")
    if not unit:
        what = "a speed without a unit, which would be bytes per second"
        raise entry.error(what, would_do="such as 800MB/s")
    try:
        return number * parse_size(f"1{unit}")
    except UsageError as error:
        raise entry.error(str(error), would_do="such as 800MB/s") from error


def choice(*known: str) -> Reader[str]:
    def read(entry: Entry) -> str:
        value = str(entry.data)
        if value not in known:
            what = f"no such {entry.key}"
            raise entry.error(what, would_do=suggestion(value, known))
        return value

    return read


def text(entry: Entry) -> str:
    return str(entry.data)


def matching(pattern: str, what: str, would_do: str) -> Reader[str]:
    """A text of the form ``pattern``."""

    def read(entry: Entry) -> str:
        if re.fullmatch(pattern, str(entry.data)) is None:
            raise entry.error(what, would_do=would_do)
        return str(entry.data)

    return read


def flag(entry: Entry) -> bool:
    if not isinstance(entry.data, bool):
        raise entry.error(f"{entry.key} is true or false")
    return entry.data


def numbers(
    most: float, would_do: str, *, from_zero: bool = False
) -> Reader[tuple[float, ...]]:
    """A list of numbers above zero (or from zero on), not above ``most``."""

    def fits(value: Any) -> bool:
        is_number = type(value) in (int, float)
        return is_number and (value > 0 or (from_zero and value == 0)) and value <= most

    def read(entry: Entry) -> tuple[float, ...]:
        given = entry.data
        if not isinstance(given, list) or not given or not all(map(fits, given)):
            limits = f"from 0 to {most:g}" if from_zero else f"above 0, at most {most}"
            what = f"{entry.key} are a list of numbers {limits}"
            raise entry.error(what, would_do=would_do)
        return tuple(map(float, given))

    return read
