"""Sentences that a reader must know before believing the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.measuring import Limits, certain
from pegasus_bb.bench.place import left_behind
from pegasus_bb.bench.plan import Mode
from pegasus_bb.bench.session import Session, Tier


def before(tiers: Sequence[Tier]) -> Iterator[str]:
    """What is known before anything is measured."""
    devices: dict[int, str] = {}
    for tier in tiers:
        name = devices.setdefault(tier.place.device, tier.place.name)
        if name != tier.place.name:
            yield f"{name} and {tier.place.name} are on one file system"
        for path in left_behind(tier.place):
            yield (
                f"{path}: of a benchmark that runs there as well, and disturbs this "
                "one, or was killed: rm -r it then"
            )


def after(session: Session) -> Iterator[str]:
    """What the figures are worth."""
    for tier in session.tiers:
        for sentence in (*_memory(tier), *_direct(tier), *_reads(tier)):
            yield f"{tier.place.name}: {sentence}"
        for sentence in (*_writes(tier), *_doubtful(tier, session.limits)):
            yield f"{tier.place.name}: {sentence}"
    if session.engine is not None and session.engine.name != "own":
        yield (
            "ior: where processes were on several nodes, the page cache was dropped on "
            "this one only; each read what its neighbour had written"
        )


def _memory(tier: Tier) -> Iterator[str]:
    if tier.place.in_memory:
        yield f"{tier.place.kind} is memory: so are all of its figures"


def _direct(tier: Tier) -> Iterator[str]:
    if tier.no_direct:
        yield (
            f"direct I/O is not measured, for {tier.place.kind} takes none "
            f"({tier.no_direct})"
        )


def _reads(tier: Tier) -> Iterator[str]:
    found = [one.cache for one in tier.measured()]
    if Cache.WARM in found:
        yield (
            "reads marked w came out of the page cache, at least in part: it was asked "
            "to drop them, and did not"
        )
    if Cache.UNKNOWN in found:
        yield (
            f"the page cache was asked to drop what is read; {tier.place.kind} does "
            "not tell whether it did"
        )
    if Cache.DROPPED in found:
        yield (
            "the page cache was seen to hold nothing of what is read; caches of "
            "servers and devices are beyond this"
        )


def _writes(tier: Tier) -> Iterator[str]:
    buffered = any(one.cell.mode is Mode.BUFFERED for one in tier.measured())
    if buffered and not tier.place.in_memory:
        yield "buffered writes may have ended in memory"


def _doubtful(tier: Tier, limits: Limits) -> Iterator[str]:
    figures = [value for one in tier.measured() for value in (one.write, one.read)]
    unsure = sum(not certain(value, limits) for value in figures)
    if unsure:
        yield (
            f"{unsure} of {len(figures)} figures, marked *, are not sure to "
            f"{limits.error * 100:g}%: their standard error is larger, or they have "
            f"less than {limits.least} repetitions"
        )
    missing = sum(not one.writes for one in tier.measurings)
    if missing:
        yield (
            f"{missing} of {len(tier.measurings)} cells were not measured by the end; "
            "--within allows more time"
        )
