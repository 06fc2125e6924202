"""A benchmark as a JSON document, version 1. docs/bench.md describes its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegasus_bb.bench.figures import Figures
from pegasus_bb.bench.measuring import Limits, Measuring, certain
from pegasus_bb.bench.session import Session, Tier
from pegasus_bb.model.stat import Stat

VERSION = 1
UNITS = {
    "block": "B",
    "transfer": "B",
    "processes": "1",
    "write": "B/s",
    "read": "B/s",
    "latency": "s",
    "seconds": "s",
    "target_error": "1",
    "n": "1",
}


def to_document(
    session: Session,
    made: Mapping[str, Any],  # host, time, seconds, interrupted
    notes: Sequence[str],
    speeds: Mapping[str, Figures],
) -> dict[str, Any]:
    """Plain values; what nobody measured is null or not there, never zero."""
    engine = session.engine
    return {
        "version": VERSION,
        "units": UNITS,
        **made,
        "engine": engine
        and {
            "name": engine.name,
            "because": engine.because,
            "command": engine.command,
        },
        "target_error": session.limits.error,
        "notes": list(notes),
        "tiers": [_tier(tier, session.limits) for tier in session.tiers],
        "speeds": {name: found.as_speeds() for name, found in speeds.items()},
        "speeds_from": {name: found.how for name, found in speeds.items()},
    }


def _tier(tier: Tier, limits: Limits) -> dict[str, Any]:
    return {
        "name": tier.place.name,
        "path": tier.place.path,
        "file_system": tier.place.kind,
        "latency": _stat(tier.latency),
        "cells": [_cell(one, limits) for one in tier.measured()],
        "not_measured": [_what(one) for one in tier.measurings if not one.writes],
    }


def _what(one: Measuring) -> dict[str, Any]:
    cell = one.cell
    return {
        "mode": cell.mode.value,
        "layout": cell.layout.value,
        "block": cell.block,
        "processes": cell.processes,
        "transfer": cell.transfer,
    }


def _cell(one: Measuring, limits: Limits) -> dict[str, Any]:
    return {
        **_what(one),
        "write": _figure(one.write, one.writes, limits),
        "read": _figure(one.read, one.reads, limits) | {"cache": one.cache.value},
    }


def _figure(
    value: Stat | None, repetitions: Sequence[float], limits: Limits
) -> dict[str, Any]:
    found = _stat(value) or {}
    return {**found, "sure": certain(value, limits), "repetitions": list(repetitions)}


def _stat(value: Stat | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"mean": value.mean, "error": value.error, "n": value.n}
