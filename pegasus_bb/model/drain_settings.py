"""How results leave a tier: the setting, and the key ``drain`` of a tier.

    drain: paced                       # off | now | paced | a rate, such as 32MiB/s
    drain: {target: scratch, limit: 20GB/s, registry: /lus/drain/scratch,
            curve: {a: 0.693, b: 0.163, n_ost: 4, stripe: 1MB, positioning: 5.5ms}}

A mapping means ``paced``. ``a`` and ``b`` are in GB/s (10^9 bytes).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.model.document import Entry
from pegasus_bb.model.quantities import (
    check_mapping,
    read_count,
    read_number,
    read_positive,
    read_short_time,
    read_size,
)

OFF = "off"
NOW = "now"
PACED = "paced"
WOULD_DO = f"{OFF}, {NOW}, {PACED}, or a rate such as 32MiB/s"
# stripes of a segment (Tang et al., section IV)
_LOWER = 12
_UPPER = 1536
_KEYS = ("target", "limit", "curve", "registry")
_CURVE = ("a", "b", "n_ost", "stripe", "positioning", "upper")
_MOST = 1e9  # of a number


@dataclass(frozen=True, slots=True)
class DrainRule:
    when: str  # off | now | paced
    rate: int = 0  # bytes per second; 0: none

    @property
    def is_paced(self) -> bool:
        return self.when == PACED or self.rate > 0

    def __str__(self) -> str:
        return f"{self.rate} bytes/s" if self.rate else self.when


@dataclass(frozen=True, slots=True)
class DrainTarget:
    """The storage that several runs drain to. Rates in bytes per second."""

    name: str
    limit: float = 0.0  # 0: limited by the curve only
    curve: dict[str, float] | None = None  # draining.curve.Curve
    registry: str = ""  # a folder that runs share; empty: each run has its own

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TierDrain:
    rule: DrainRule
    target: DrainTarget | None = None


def read_rule(text: str) -> DrainRule:
    """The rule in ``text``. Raises UsageError."""
    if text in (OFF, NOW, PACED):
        return DrainRule(text)
    size, per, unit = text.partition("/")
    if not per or unit.strip() != "s":
        raise UsageError(f"{text!r} is not one of {WOULD_DO}")
    try:
        rate = parse_size(size)
    except UsageError as error:
        raise UsageError(f"{error}; a rate is such as 32MiB/s") from error
    if rate <= 0:
        raise UsageError(f"{text!r}: a rate is above zero")
    return DrainRule("", rate)


def read_drain(entry: Entry) -> TierDrain:
    """The key ``drain`` of a tier. Raises CatalogError."""
    if not isinstance(entry.data, dict):
        # YAML 1.1 reads `off` as false.
        text = OFF if entry.data is False else str(entry.data)
        try:
            return TierDrain(read_rule(text))
        except UsageError as error:
            raise entry.error(str(error), text, WOULD_DO) from error
    check_mapping(entry, _KEYS, ("target",))
    if not {"limit", "curve"} & entry.data.keys():
        what = "a target without a limit and without a curve limits nothing"
        raise entry.error(what, would_do="limit: 20GB/s")
    registry = str(entry.data.get("registry", ""))
    if "registry" in entry.data and not registry.startswith("/"):
        what = "the registry is a folder on the PFS, by its full path"
        raise entry.below("registry").error(what, would_do="/lus/drain/scratch")
    limit = _read_limit(entry.below("limit")) if "limit" in entry.data else 0.0
    curve = _read_curve(entry.below("curve")) if "curve" in entry.data else None
    target = DrainTarget(str(entry.data["target"]), limit, curve, registry)
    return TierDrain(DrainRule(PACED), target)


def _read_limit(entry: Entry) -> float:
    try:
        rate = read_rule(str(entry.data)).rate
    except UsageError as error:
        raise entry.error(str(error), would_do="20GB/s") from error
    if not rate:
        raise entry.error("a limit is a rate", would_do="20GB/s")
    return float(rate)


def _read_curve(entry: Entry) -> dict[str, float]:
    check_mapping(entry, _CURVE, ("a", "b", "n_ost", "stripe"))
    curve = {
        "a": read_positive(entry, "a", _MOST),
        "b": read_number(entry, "b", -_MOST, _MOST),
        "n_ost": read_count(entry, "n_ost"),
        "stripe": read_size(entry, "stripe"),
        "positioning": read_short_time(
            entry, "positioning", "positioning time", "such as 5.5ms"
        ),
        "upper": read_count(entry, "upper", _UPPER),
    }
    if curve["upper"] < _LOWER:
        raise entry.below("upper").error(f"upper is at least {_LOWER} stripes")
    if curve["a"] * math.log(_LOWER / curve["n_ost"]) + curve["b"] <= 0:
        what = f"a ln({_LOWER} / n_ost) + b gives no bandwidth"
        raise entry.error(what, would_do="a larger b, or fewer n_ost")
    return curve
