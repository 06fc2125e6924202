"""Equations 1 to 8 of Tang et al., sections III and IV.

Bytes, seconds, bytes per second. Only the coefficients a, b and the plateau of a target
are in GB/s, as in Table II. ``n_io`` is the number of stripes of one segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from pegasus_bb.runtime.draining.curve import Curve
from pegasus_bb_lab.model.applications import Application, Target

GB = 1e9  # bytes


def segments(size: float, n_io: int, stripe: int) -> float:
    """Eq. 1: the segments of a file of ``size`` bytes; a part of one counts as such."""
    return size / (n_io * stripe)


def reactive_bandwidth(
    sizes: Iterable[float], interval: float, io_share: float
) -> float:
    """Eq. 2: bytes per second that drain files of ``sizes`` bytes in ``io_share`` of
    their ``interval`` in seconds."""
    return math.fsum(sizes) / (io_share * interval)


def bandwidth(target: Target, sizes: Iterable[float], n_io: int) -> float:
    """Eq. 3: bytes per second within the segments of files that drain side by side."""
    seconds = segment_seconds(target, n_io)
    return math.fsum(
        size / (segments(size, n_io, target.stripe) * seconds) for size in sizes
    )


def curve(target: Target) -> Curve:
    """Eqs. 4 and 8 are those by which a real transfer is paced."""
    return Curve(
        target.a,
        target.b,
        target.osts,
        target.stripe,
        target.positioning,
        target.upper,
        target.lower,
        target.plateau,
    )


def segment_bandwidth(target: Target, n_io: int) -> float:
    """Eq. 4: bytes per second of one segment; the plateau of Fig. 7 limits it."""
    return curve(target).bandwidth(n_io)


def segment_seconds(target: Target, n_io: int) -> float:
    """Eq. 5: the seconds of one segment, without positioning."""
    return n_io * target.stripe / segment_bandwidth(target, n_io)


def shared_bandwidth(target: Target, sizes: Iterable[float], n_io: int) -> float:
    """Eq. 6: as eq. 3, with the time to position before each segment."""
    seconds = segment_seconds(target, n_io) + target.positioning
    return math.fsum(
        size / (segments(size, n_io, target.stripe) * seconds) for size in sizes
    )


def load(applications: Iterable[Application]) -> float:
    """The right side of eq. 7: bytes per second that arrive on average. It is the
    bandwidth of an ideal draining."""
    return math.fsum(each.size / each.interval for each in applications)


def keeps_up(target: Target, size: float, n_io: int, load: float) -> bool:
    """Eq. 7: one client drains at least as fast as the dumps of all arrive."""
    return shared_bandwidth(target, [size], n_io) >= load


def serves_all(target: Target, n_io: int, load: float) -> bool:
    """Eq. 8: segments of ``n_io`` stripes serve a ``load`` in bytes per second."""
    return curve(target).serves(n_io, load)


def on_osts(target: Target, osts: int) -> Target:
    """The same target of more or fewer OSTs, each as fast as before at the same number
    of stripes an OST. Eq. 4 as it stands would make fewer OSTs faster: a and b are
    fitted for one number of them."""
    part = osts / target.osts
    return replace(
        target,
        osts=osts,
        upper=max(target.lower, round(target.upper * part)),
        a=target.a * part,
        b=target.b * part,
        plateau=target.plateau * part,
    )
