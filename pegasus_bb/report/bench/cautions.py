"""Sentences that a reader must know before believing the figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.report.bench.cells import ERROR, LEAST, certain
from pegasus_bb.report.bench.measured_tier import left_behind
from pegasus_bb.report.bench.session import Session, Tier


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
        if any(one.warm for one in tier.measured()):
            yield (
                f"{tier.place.name}: reads marked w came from the page cache, or may "
                "have come from it"
            )
        yield from _doubtful(tier)
    if session.engine is not None and session.engine.name != "own":
        yield (
            "ior: with processes on several nodes, only this node dropped its page "
            "cache; each process read the file of another node"
        )


def _doubtful(tier: Tier) -> Iterator[str]:
    figures = [value for one in tier.measured() for value in (one.write, one.read)]
    figures += [one.rate for one in tier.operations if one.rates]
    uncertain = sum(not certain(value) for value in figures)
    if uncertain:
        yield (
            f"{tier.place.name}: {uncertain} of {len(figures)} figures, marked *, have "
            f"a standard error above {ERROR:.0%} or less than {LEAST} repetitions"
        )
