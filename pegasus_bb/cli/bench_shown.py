"""A benchmark as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.cells import Measurement, certain
from pegasus_bb.bench.figures import RATES, Figures
from pegasus_bb.bench.session import Session, Tier
from pegasus_bb.cli.columns import columns, printable
from pegasus_bb.model.stat import Stat
from pegasus_bb.units import MIB, format_size

_HEAD = ("block", "processes", "write MiB/s", "read MiB/s", "n")
_WIDTH = 90


def table_lines(session: Session) -> Iterator[str]:
    """A table for each tier, and the engine."""
    for tier in session.tiers:
        yield _title(tier)
        rows = [_HEAD, *(_row(one) for one in tier.measured())]
        yield from columns(rows, right=range(len(_HEAD)))
        yield ""
    if session.engine is not None:
        yield wrapped(f"measured by {session.engine.name}: {session.engine.because}")


def wrapped(text: str) -> str:
    """``text`` in lines as narrow as the tables."""
    return fill(
        printable(text),
        _WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def figure_lines(found: Mapping[str, Figures]) -> Iterator[str]:
    """The figures for the cost model."""
    names = (*RATES, "latency")
    rows: list[tuple[str, ...]] = [("tier", *names)]
    for tier, figures in found.items():
        speeds = figures.as_speeds()
        rows.append((tier, *(speeds[name] for name in names)))
    yield from columns(rows, right=range(1, len(names) + 1))
    yield from (f"{tier}: from {each.source}" for tier, each in found.items())


def _title(tier: Tier) -> str:
    place, latency = tier.place, tier.latency
    opening = f", {latency.mean * 1e6:.0f} us to open a file" if latency else ""
    return f"{place.name}: {place.path} ({place.kind}){opening}"


def _row(one: Measurement) -> tuple[str, ...]:
    return (
        format_size(one.cell.block),
        str(one.cell.processes),
        _figure(one.write),
        ("w " if one.cache is Cache.WARM else "") + _figure(one.read),
        str(len(one.writes)),
    )


def _figure(value: Stat | None) -> str:
    """Mean and standard error; a star if that is too large."""
    if value is None:
        return "-"
    share = "" if value.share is None else f" +-{value.share:5.1%}"
    return f"{value.mean / MIB:.1f}{share}{' ' if certain(value) else '*'}"
