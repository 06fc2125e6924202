"""What several Darshan logs, or processes, saw of the same calls, together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pegasus_bb.model.run import Layer
from pegasus_bb.report.stats import total


def together(some: Iterable[Layer]) -> tuple[Layer, ...]:
    """One Layer of each name.

    Programs of one task ran one after the other, or nobody knows better: the seconds
    of their slowest processes are added up.
    """
    named: dict[str, list[Layer]] = {}
    for layer in some:
        named.setdefault(layer.name, []).append(layer)
    return tuple(reduce(_sum, layers) for layers in named.values())


def _sum(one: Layer, other: Layer) -> Layer:
    return Layer(
        name=one.name,
        read=one.read + other.read,
        written=one.written + other.written,
        processes=one.processes + other.processes,
        read_time=one.read_time + other.read_time,
        write_time=one.write_time + other.write_time,
        meta_time=one.meta_time + other.meta_time,
        seconds=one.seconds + other.seconds,
        slowest_read=one.slowest_read + other.slowest_read,
        slowest_write=one.slowest_write + other.slowest_write,
        run_time=total((one.run_time, other.run_time)),
    )
