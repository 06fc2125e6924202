"""What greedy garbage collection copies if all pages are written with equal chance."""

from __future__ import annotations

import math


def greedy(spare: float) -> float:
    """a / (a + W(-a e^-a)) for flash ``a`` times as large as its data (Xiang, Kurkoski,
    ICNC 2012). W, the principal branch of Lambert's function, is here the larger of
    the two w with w e^w = -a e^-a; the other is -a."""
    low, high = -1.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle * math.exp(middle) < -spare * math.exp(-spare):
            low = middle
        else:
            high = middle
    return spare / (spare + high)
