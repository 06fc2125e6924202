"""How long a job computes between two checkpoints. All times are seconds."""

from __future__ import annotations

import math

from pegasus_bb_lab.model.mix import YOUNG


def young(dump: float, mtti: float) -> float:
    """Young 1974: the first-order optimum for a checkpoint that takes ``dump``."""
    return math.sqrt(2 * dump * mtti)


def daly(dump: float, mtti: float) -> float:
    """Daly 2006, eq. 37: the higher-order optimum."""
    if dump >= 2 * mtti:
        return mtti
    ratio = dump / (2 * mtti)
    return young(dump, mtti) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - dump


def interval(rule: float | str, dump: float, mtti: float) -> float:
    """By ``rule``: young, daly, or so many seconds. Without faults there is no end."""
    if not isinstance(rule, str):
        return rule
    if math.isinf(mtti):
        return math.inf
    return young(dump, mtti) if rule == YOUNG else daly(dump, mtti)


def segment(
    rule: float | str, dump: float, mtti: float, left: float, least: float = 0.0
) -> float:
    """How long to compute before the next checkpoint of a job that has ``left`` until
    its wall time. It ends with a checkpoint; a rule makes equal intervals. If there
    is less left than ``least``, the job overruns."""
    pause = interval(rule, dump, mtti)
    if isinstance(rule, str):
        fitting = left / max(1, round(left / (pause + dump))) - dump
    else:
        fitting = min(pause, left - dump)
    return max(fitting, min(pause, least))
