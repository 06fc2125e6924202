"""How much bandwidth the storage needs if dumps are drained proactively."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pegasus_bb.core.units import format_number
from pegasus_bb_lab.model.applications import DrainingInput, Target
from pegasus_bb_lab.provision import equations
from pegasus_bb_lab.provision.application_map import least_stripes


@dataclass(frozen=True, slots=True)
class Provision:
    """Of one strategy. Bytes per second."""

    n_io: int  # stripes of one segment
    segment: float  # seconds of one segment, without positioning (eq. 5)
    bandwidth: float  # of one target within segments (eq. 3)
    shared: float  # of one target with positioning (eq. 6)
    groups: float  # targets
    provisioned: float  # of all targets: the storage is bought for this


@dataclass(frozen=True)
class Provisioning:
    """Bytes per second."""

    ideal: float  # sum of size / interval
    reactive: Mapping[str, float]  # of each application (eq. 2)
    strategies: Mapping[str, Provision]


def provision(wanted: DrainingInput) -> Provisioning:
    """Raises CatalogError if no segment size serves all (eq. 8): an overload."""
    ideal = equations.load(wanted.applications)
    reactive = {
        each.name: equations.reactive_bandwidth(
            [each.size], each.interval, wanted.io_share
        )
        for each in wanted.applications
    }
    strategies = {}
    for strategy, target in wanted.targets.items():
        found = provision_load(target, ideal, wanted.groups)
        if found is None:
            raise _overload(wanted, strategy, ideal)
        strategies[strategy] = found
    return Provisioning(ideal, reactive, strategies)


def provision_load(target: Target, load: float, groups: int | None) -> Provision | None:
    """For a ``load`` in bytes per second on ``groups`` targets; None: an overload.

    Without ``groups``, segments have their upper bound, where positioning costs least,
    and there are as many targets as the load takes, a part of one included.
    """
    n_io: int | None = target.upper
    if groups is not None:
        n_io = least_stripes(target, load / groups)
    if n_io is None:
        return None
    one_file = [float(target.stripe)]  # neither rate depends on its size
    bandwidth = equations.bandwidth(target, one_file, n_io)
    shared = equations.shared_bandwidth(target, one_file, n_io)
    count = load / shared if groups is None else float(groups)
    seconds = equations.segment_seconds(target, n_io)
    return Provision(n_io, seconds, bandwidth, shared, count, count * bandwidth)


def _overload(wanted: DrainingInput, strategy: str, load: float) -> Exception:
    everywhere = (provision_load(t, load, None) for t in wanted.targets.values())
    needed = max(math.ceil(each.groups) for each in everywhere if each)
    upper = wanted.targets[strategy].upper
    rate = format_number(load / equations.GB, 4)
    return wanted.document.error(
        f"overload: {rate} GB/s are more than this many targets drain "
        f"({strategy}, eq. 8 at {upper} stripes)",
        ["target", "groups"],
        wanted.groups,
        f"groups: {needed}, or fewer or smaller dumps",
    )
