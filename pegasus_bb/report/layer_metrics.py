"""What is taken from one layer of calls of a group of tasks: a number, or None."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pegasus_bb.model.run import Layer
from pegasus_bb.report.metrics import SLACK_SECONDS, SLACK_SHARE


class LayerMetric(NamedTuple):
    """A quantity of one layer."""

    key: str  # in JSON
    unit: str  # s | B | B/s | 1
    of: Callable[[Layer], float | None]


def _over(part: float, whole: float) -> float | None:
    return part / whole if part and whole > 0 else None


def _average(layer: Layer) -> float:
    """Seconds in calls per process."""
    whole = layer.read_time + layer.write_time + layer.meta_time
    return whole / layer.processes


def _other(layer: Layer) -> float | None:
    """Seconds per process outside these calls; None where threads were in several at
    once, so that the difference says nothing."""
    if layer.run_time is None:
        return None
    left = layer.run_time / layer.processes - _average(layer)
    slack = max(SLACK_SECONDS, SLACK_SHARE * layer.run_time / layer.processes)
    return max(0.0, left) if left >= -slack else None


LAYER_METRICS = (
    LayerMetric("processes", "1", lambda layer: float(layer.processes)),
    LayerMetric("bytes_read", "B", lambda layer: float(layer.read)),
    LayerMetric("bytes_written", "B", lambda layer: float(layer.written)),
    LayerMetric(
        "read_bandwidth", "B/s", lambda layer: _over(layer.read, layer.slowest_read)
    ),
    LayerMetric(
        "write_bandwidth",
        "B/s",
        lambda layer: _over(layer.written, layer.slowest_write),
    ),
    LayerMetric("read_time", "s", lambda layer: layer.read_time / layer.processes),
    LayerMetric("write_time", "s", lambda layer: layer.write_time / layer.processes),
    LayerMetric("meta_time", "s", lambda layer: layer.meta_time / layer.processes),
    LayerMetric("other_time", "s", _other),
    LayerMetric("slowest_time", "s", lambda layer: layer.seconds),
    LayerMetric(
        "slowest_to_average", "1", lambda layer: _over(layer.seconds, _average(layer))
    ),
)
