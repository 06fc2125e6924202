"""Every policy with the same loads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean

from pegasus_bb_lab.flash.device_pools import events_of, to_pools, to_streams
from pegasus_bb_lab.flash.device_timeline import run_device
from pegasus_bb_lab.flash.flash_outcome import Outcome, to_outcome
from pegasus_bb_lab.flash.geometry import Geometry
from pegasus_bb_lab.flash.policies import (
    COHORT,
    PREDICTED,
    WITHOUT_TIMES,
    WORKFLOW,
    Assign,
    Predicted,
)
from pegasus_bb_lab.flash.trace import Trace
from pegasus_bb_lab.flash.user_load import record_users
from pegasus_bb_lab.flash.workflow_load import record_workflows
from pegasus_bb_lab.model.flash_device import FlashInput
from pegasus_bb_lab.model.flash_users import Users

POOLS = "pools"

Run = Callable[[Trace, int], Outcome]  # trace, seed
Done = Callable[[int, int], None]  # simulated runs, of how many


@dataclass
class Study:
    """An outcome of each policy for each seed. ``peaks`` has, for each seed, the most
    live bytes as a share of the capacity."""

    wanted: FlashInput
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    peaks: list[float] = field(default_factory=list)

    def waf(self, policy: str) -> float:
        return fmean(outcome.waf for outcome in self.outcomes[policy])

    def auto(self, error: float) -> str:
        """The policy with the lowest WAF, if lifetimes are known so well. Of equal
        ones the simplest. Pools are no streams, and not among them."""
        known = [name for name in WITHOUT_TIMES if name in self.outcomes]
        return min([*known, *_predicted(error)], key=self.waf)


def to_geometry(wanted: FlashInput) -> Geometry:
    """Raises CatalogError if garbage collection would find no room."""
    device = wanted.device
    geometry = Geometry(
        blocks=device.raw // device.block,
        pages=device.block // device.page,
        logical=device.capacity // device.page,
        streams=device.streams,
        trim=device.trim,
    )
    if geometry.spare_blocks < 1:
        needed = (geometry.blocks + 1 - geometry.spare_blocks) * device.block
        raise wanted.document.error(
            "the capacity, two open blocks of each stream and two more do not fit",
            ["device", "raw"],
            device.raw,
            f"raw: {-(-needed >> 30)}GiB, smaller blocks, or fewer streams",
        )
    return geometry


def record(wanted: FlashInput, seed: int) -> Trace:
    kind = wanted.load.kind
    if isinstance(kind, Users):
        return record_users(wanted, kind, seed)
    return record_workflows(wanted, kind, seed)


def simulate(wanted: FlashInput, trace: Trace, assign: Assign) -> Outcome:
    """Files are striped over all devices, so one device stands for all."""
    geometry = to_geometry(wanted)
    device = wanted.device
    streams = assign(trace.files, device.streams)
    unit = wanted.load.stripe // device.page
    only = run_device(device, geometry, trace.events, streams, unit)
    return to_outcome(wanted, [only])


def simulate_pools(wanted: FlashInput, trace: Trace) -> Outcome:
    """Each device is a pool; users are streams within it. A pool gets all stripes of
    its files, and may be full before the others are."""
    geometry = to_geometry(wanted)
    device = wanted.device
    pools = to_pools(trace.files, device.devices)
    streams = to_streams(trace.files, pools, device.streams)
    unit = device.devices * wanted.load.stripe // device.page
    events = (events_of(trace, pools, pool) for pool in range(device.devices))
    found = [run_device(device, geometry, each, streams, unit) for each in events]
    return to_outcome(wanted, found)


def to_policies(wanted: FlashInput) -> dict[str, Run]:
    """By the name that a table gives them. A user without workflows is one key."""
    names = list(WITHOUT_TIMES)
    if isinstance(wanted.load.kind, Users):
        names = [name for name in names if name not in (WORKFLOW, COHORT)]
    found: dict[str, Run] = {}
    for name in names:
        found[name] = partial(_run, wanted, WITHOUT_TIMES[name])
    for error in wanted.errors:
        for policy, name in zip(PREDICTED.values(), _predicted(error), strict=True):
            found[name] = partial(_run_predicted, wanted, policy, error)
    if wanted.device.devices > 1:
        found[POOLS] = lambda trace, _: simulate_pools(wanted, trace)
    return found


def _predicted(error: float) -> list[str]:
    return [f"{name}, sigma {error:g}" for name in PREDICTED]


def _run(wanted: FlashInput, assign: Assign, trace: Trace, _: int) -> Outcome:
    return simulate(wanted, trace, assign)


def _run_predicted(
    wanted: FlashInput, policy: Predicted, error: float, trace: Trace, seed: int
) -> Outcome:
    return simulate(wanted, trace, partial(policy, error, seed))


def study(wanted: FlashInput, seeds: Iterable[int], done: Done) -> Study:
    """``done`` hears of every run. Raises CatalogError."""
    to_geometry(wanted)
    numbers = list(seeds)
    found = Study(wanted)
    policies = to_policies(wanted)
    for turn, seed in enumerate(numbers):
        trace = record(wanted, seed)
        found.peaks.append(trace.peak / wanted.capacity)
        for place, (name, run) in enumerate(policies.items(), start=1):
            found.outcomes.setdefault(name, []).append(run(trace, seed))
            done(turn * len(policies) + place, len(numbers) * len(policies))
    return found
