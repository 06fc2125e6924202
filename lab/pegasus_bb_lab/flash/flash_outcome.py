"""What a policy did: write amplification, bandwidth and wear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pegasus_bb_lab.flash.device_timeline import Timeline, slowdown
from pegasus_bb_lab.model.flash_device import Device, FlashInput

_DAY = 86400.0
_PARTS = 60  # of the time, for a chart


@dataclass(frozen=True)
class StreamOutcome:
    share: float  # of what the host writes
    waf: float | None  # None: the host wrote nothing


@dataclass(frozen=True)
class Outcome:
    """Of one run. All but ``series`` is of the time after the device is worn in."""

    waf: float
    bandwidth: float  # bytes per second of all devices
    host_writes_per_day: float  # drive writes: what the host writes, per capacity
    flash_writes_per_day: float  # drive writes: what wears the flash
    refused: float  # share of all pages: the tier was full
    streams: tuple[StreamOutcome, ...]
    series: tuple[float | None, ...]  # WAF in equal parts of the time


def to_outcome(wanted: FlashInput, devices: Sequence[Timeline]) -> Outcome:
    """``devices`` are different ones, or one that stands for all."""
    load = wanted.load
    device = wanted.device
    host, nand = _sum(devices, load.after, load.time)
    waf = _waf(sum(host), sum(nand)) or 1.0
    bandwidth = device.bandwidth * device.devices / slowdown(waf)
    writes = _host_writes(device, load.per_day or bandwidth * _DAY)
    borders = [load.time * part / _PARTS for part in range(_PARTS + 1)]
    parts = [_sum(devices, *pair) for pair in pairwise(borders)]
    return Outcome(
        waf=waf,
        bandwidth=bandwidth,
        host_writes_per_day=writes,
        flash_writes_per_day=writes * waf,
        refused=_refused(devices),
        streams=tuple(
            StreamOutcome(mine / (sum(host) or 1.0), _waf(mine, of_flash))
            for mine, of_flash in zip(host, nand, strict=True)
        ),
        series=tuple(_waf(sum(mine), sum(flash)) for mine, flash in parts),
    )


def _sum(
    devices: Sequence[Timeline], begin: float, end: float
) -> tuple[list[float], list[float]]:
    """Pages of each stream: the host's, and those written to flash."""
    found = [device.between(begin, end) for device in devices]
    total = [sum(column) for column in zip(*found, strict=True)]
    half = len(total) // 2
    return total[:half], total[half:]


def _waf(host: float, nand: float) -> float | None:
    return nand / host if host else None


def _host_writes(device: Device, bytes_a_day: float) -> float:
    return bytes_a_day / (device.capacity * device.devices)


def _refused(devices: Sequence[Timeline]) -> float:
    refused = sum(device.refused for device in devices)
    written = sum(sum(device.counters[-1].host) for device in devices)
    return refused / (refused + written)
