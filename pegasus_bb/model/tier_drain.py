"""The key ``drain`` of a tier: how results leave it, and to which storage.

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
from pegasus_bb.model.document import Entry
from pegasus_bb.model.drain_policies import OFF, PACED, WOULD_DO, DrainRule, read_rule
from pegasus_bb.model.quantities import (
    count,
    matching,
    number,
    positive,
    short_time,
    size,
    text,
)
from pegasus_bb.model.records import key, read_record

# stripes of a segment (Tang et al., section IV)
_LOWER = 12
_UPPER = 1536
_MOST = 1e9  # of a number


def _limit(entry: Entry) -> float:
    try:
        rate = read_rule(str(entry.data)).rate
    except UsageError as error:
        raise entry.error(str(error), would_do="20GB/s") from error
    if not rate:
        raise entry.error("a limit is a rate", would_do="20GB/s")
    return float(rate)


@dataclass(frozen=True, slots=True)
class _Curve:
    """The numbers of draining.curve.Curve."""

    a: float = key(positive(_MOST))
    b: float = key(number(-_MOST, _MOST))
    n_ost: int = key(count())
    stripe: int = key(size())
    positioning: float = key(short_time("positioning time", "such as 5.5ms"), 0.0)
    upper: int = key(count(), _UPPER)


def _curve(entry: Entry) -> dict[str, float]:
    curve = read_record(_Curve, entry)
    if curve.upper < _LOWER:
        raise entry.below("upper").error(f"upper is at least {_LOWER} stripes")
    if curve.a * math.log(_LOWER / curve.n_ost) + curve.b <= 0:
        what = f"a ln({_LOWER} / n_ost) + b gives no bandwidth"
        raise entry.error(what, would_do="a larger b, or fewer n_ost")
    return asdict(curve)


_FULL_PATH = matching(
    "/.*", "the registry is a folder on the PFS, by its full path", "/lus/drain/scratch"
)


@dataclass(frozen=True, slots=True)
class DrainTarget:
    """The storage that several runs drain to. Rates in bytes per second."""

    name: str = key(text, name="target")
    # 0: limited by the curve only
    limit: float = key(_limit, 0.0, default=0.0)
    # draining.curve.Curve
    curve: dict[str, float] | None = key(_curve, None, default=None)
    # A folder that runs share; empty: each run has its own.
    registry: str = key(_FULL_PATH, "", default="")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TierDrain:
    rule: DrainRule
    target: DrainTarget | None = None


def read_drain(entry: Entry) -> TierDrain:
    """The key ``drain`` of a tier. Raises CatalogError."""
    if not isinstance(entry.data, dict):
        # YAML 1.1 reads `off` as false.
        rule = OFF.name if entry.data is False else str(entry.data)
        try:
            return TierDrain(read_rule(rule))
        except UsageError as error:
            raise entry.error(str(error), rule, WOULD_DO) from error
    return TierDrain(DrainRule(PACED), _target(entry))


def _target(entry: Entry) -> DrainTarget:
    target = read_record(DrainTarget, entry)
    if not target.limit and target.curve is None:
        what = "a target without a limit and without a curve limits nothing"
        raise entry.error(what, would_do="limit: 20GB/s")
    return target
