"""A benchmark as a JSON document, version 1. docs/bench.md describes its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.report.bench.cells import ERROR, LEAST, Measurement, certain
from pegasus_bb.report.bench.figures import Figures
from pegasus_bb.report.bench.measured_tier import left_behind
from pegasus_bb.report.bench.session import Session, TierSession


def before(tiers: Sequence[TierSession]) -> Iterator[str]:
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


def _doubtful(tier: TierSession) -> Iterator[str]:
    figures = [value for one in tier.measured() for value in (one.write, one.read)]
    figures += [one.rate for one in tier.operations if one.rates]
    uncertain = sum(not certain(value) for value in figures)
    if uncertain:
        yield (
            f"{tier.place.name}: {uncertain} of {len(figures)} figures, marked *, have "
            f"a standard error above {ERROR:.0%} or less than {LEAST} repetitions"
        )


_UNITS = {
    **dict.fromkeys(("block", "transfer"), "B"),
    **dict.fromkeys(("write", "read"), "B/s"),
    **dict.fromkeys(("latency", "seconds"), "s"),
    **dict.fromkeys(("processes", "target_error", "n"), "1"),
    "rate": "1/s",
}


def to_document(
    session: Session,
    run: Mapping[str, Any],  # host, cores, time, seconds, complete
    notes: Sequence[str],
    speeds: Mapping[str, Figures],
) -> dict[str, Any]:
    """Return plain values. An unmeasured value is null or missing, never zero."""
    return {
        "version": 1,
        "units": _UNITS,
        **run,
        "engine": {"name": "own", "because": ""},  # readers of version 1 want it
        "target_error": ERROR,
        "notes": list(notes),
        "tiers": [_tier(tier) for tier in session.tiers],
        "speeds": {name: found.speeds for name, found in speeds.items()},
        "speeds_from": {name: found.source for name, found in speeds.items()},
    }


def _tier(tier: TierSession) -> dict[str, Any]:
    return {
        "name": tier.place.name,
        "path": tier.place.path,
        "file_system": tier.place.kind,
        "latency": _stat(tier.latency),
        "cells": [_cell(one) for one in tier.measured()],
        "operations": [
            {"processes": one.processes, "rate": _figure(one.rate, one.rates)}
            for one in tier.operations
            if one.rates
        ],
        "not_measured": [_key(one) for one in tier.measurements if not one.writes],
    }


def _key(one: Measurement) -> dict[str, Any]:
    """Identify a cell. Mode and layout never vary; readers of version 1 want them."""
    cell = one.cell
    return {
        "mode": "fsync",
        "layout": "file-per-process",
        "block": cell.block,
        "processes": cell.processes,
        "transfer": cell.transfer,
    }


def _cell(one: Measurement) -> dict[str, Any]:
    return {
        **_key(one),
        "write": _figure(one.write, one.writes),
        "read": _figure(one.read, one.reads)
        | {"cache": "warm" if one.warm else "dropped"},
    }


def _figure(value: Stat | None, repetitions: Sequence[float]) -> dict[str, Any]:
    found = _stat(value) or {}
    return {**found, "sure": certain(value), "repetitions": list(repetitions)}


def _stat(value: Stat | None) -> dict[str, Any] | None:
    return asdict(value) if value else None
