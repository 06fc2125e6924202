"""What greedy garbage collection copies if all pages are written with equal chance."""

from __future__ import annotations

import math
from array import array
from random import Random

from pegasus_bb_lab.flash.device import new_device
from pegasus_bb_lab.flash.geometry import Geometry


def greedy(spare: float) -> float:
    """a / (a + W(-a e^-a)) for flash ``a`` times as large as its data (Xiang, Kurkoski,
    ICNC 2012). W, the principal branch of Lambert's function, is here the larger of
    the two w with w e^w = -a e^-a; the other is -a."""
    low = -1.0
    high = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle * math.exp(middle) < -spare * math.exp(-spare):
            low = middle
        else:
            high = middle
    return spare / (spare + high)


def uniform(used: float, pages: int, blocks: int) -> float:
    """WAF of a device that is worn in, if every logical page is written with the same
    chance. ``used``: logical pages to all."""
    logical = int(pages * blocks * used)
    device = new_device(Geometry(blocks, pages, logical, 1, True), 1)
    random = Random(1)
    device.overwrite(array("i", range(logical)), 0)
    counters = []
    for _ in range(2):  # the first to wear it in
        device.overwrite(array("i", random.choices(range(logical), k=4 * logical)), 0)
        counters.append(device.counters())
    first, last = counters
    return (last.nand[0] - first.nand[0]) / (last.host[0] - first.host[0])
