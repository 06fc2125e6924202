"""How results leave a tier: off, now, paced, or at a rate such as 32MiB/s."""

from __future__ import annotations

from dataclasses import dataclass

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size


@dataclass(frozen=True, slots=True)
class DrainPolicy:
    """A word that the setting may be, and what it does."""

    name: str
    is_late: bool = False  # results wait until the last job has computed
    is_paced: bool = False  # results leave at a rate; without one planning finds it
    about: str = ""  # what plan says; empty: nothing, it is the usual


OFF = DrainPolicy("off", is_late=True, about="when the last job has computed")
NOW = DrainPolicy("now")
PACED = DrainPolicy("paced", is_paced=True, about="paced")
_POLICIES = {policy.name: policy for policy in (OFF, NOW, PACED)}
WOULD_DO = f"{', '.join(_POLICIES)}, or a rate such as 32MiB/s"


@dataclass(frozen=True, slots=True)
class DrainRule:
    policy: DrainPolicy
    rate: int = 0  # bytes per second; 0: none

    @property
    def is_at_once(self) -> bool:
        """Whether results leave as soon as they are written."""
        return not (self.policy.is_late or self.policy.is_paced)

    @property
    def needs_forecast(self) -> bool:
        """Whether planning finds the rate."""
        return self.policy.is_paced and not self.rate

    def __str__(self) -> str:
        return f"{self.rate} bytes/s" if self.rate else self.policy.name


def read_rule(text: str) -> DrainRule:
    """The rule in ``text``. Raises UsageError."""
    if text in _POLICIES:
        return DrainRule(_POLICIES[text])
    size, per, unit = text.partition("/")
    if not per or unit.strip() != "s":
        raise UsageError(f"{text!r} is not one of {WOULD_DO}")
    try:
        rate = parse_size(size)
    except UsageError as error:
        raise UsageError(f"{error}; a rate is such as 32MiB/s") from error
    if rate <= 0:
        raise UsageError(f"{text!r}: a rate is above zero")
    return DrainRule(PACED, rate)
