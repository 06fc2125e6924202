"""Sentences that a reader must know before believing the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.cells import ERROR, LEAST, certain
from pegasus_bb.bench.place import left_behind
from pegasus_bb.bench.session import Session, Tier


def before(tiers: Sequence[Tier]) -> Iterator[str]:
    devices: dict[int, str] = {}
    for tier in tiers:
        name = devices.setdefault(tier.place.device, tier.place.name)
        if name != tier.place.name:
            yield f"{name} and {tier.place.name} are on one file system"
        for path in left_behind(tier.place):
            yield (
                f"{path}: another benchmark runs there and disturbs this one, or was "
                "killed; if it was, rm -r it"
            )


def after(session: Session) -> Iterator[str]:
    for tier in session.tiers:
        for sentence in (*_reads(tier), *_doubtful(tier)):
            yield f"{tier.place.name}: {sentence}"
    if session.engine is not None and session.engine.name != "own":
        yield (
            "ior: with processes on several nodes, only this node dropped its page "
            "cache; each process read the file of another node"
        )


def _reads(tier: Tier) -> Iterator[str]:
    """How far the reads are those of the storage."""
    kind, found = tier.place.kind, {one.cache for one in tier.measured()}
    words = {
        Cache.MEMORY: f"{kind} is memory: all figures are those of memory",
        Cache.WARM: "reads marked w came, at least in part, from the page cache",
        Cache.UNKNOWN: f"{kind} does not tell whether the page cache dropped the files",
        Cache.DROPPED: "reads without a w came from the storage, or from caches of "
        "servers and devices, which are out of our reach",
    }
    return (sentence for cache, sentence in words.items() if cache in found)


def _doubtful(tier: Tier) -> Iterator[str]:
    figures = [value for one in tier.measured() for value in (one.write, one.read)]
    uncertain = sum(not certain(value) for value in figures)
    if uncertain:
        yield (
            f"{uncertain} of {len(figures)} figures, marked *, have a standard error "
            f"above {ERROR:.0%} or less than {LEAST} repetitions"
        )
