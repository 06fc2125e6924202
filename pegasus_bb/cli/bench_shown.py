"""A benchmark in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.figures import Figures
from pegasus_bb.bench.measuring import Limits, Measuring, certain
from pegasus_bb.bench.session import Session, Tier
from pegasus_bb.cli.columns import columns, printable
from pegasus_bb.model.stat import Stat
from pegasus_bb.units import MIB, format_size

_HEAD = ("mode", "layout", "procs", "block", "write MiB/s", "read MiB/s", "n")
_WIDTH = 90
_TO_RIGHT = (2, 3, 4, 5, 6)
_FIGURES = ("read", "write", "job_read", "job_write", "latency")
_SHORT = {"file-per-process": "file each", "shared-file": "one file"}


def shown(session: Session) -> Iterator[str]:
    """A table for each tier, and who measured."""
    for tier in session.tiers:
        yield from _tier(tier, session.limits)
    if session.engine is not None:
        yield wrapped(f"measured by {session.engine.name}: {session.engine.because}")


def wrapped(text: str) -> str:
    """In lines as narrow as the tables."""
    return fill(
        printable(text),
        _WIDTH,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def shown_figures(found: Mapping[str, Figures]) -> Iterator[str]:
    """What the cost model is told."""
    rows: list[tuple[str, ...]] = [("tier", *_FIGURES)]
    for name, figures in found.items():
        said = figures.as_speeds()
        rows.append((name, *(said[key] for key in _FIGURES)))
    yield from columns(rows, right=range(1, 6))
    yield from (f"{name}: from {figures.how}" for name, figures in found.items())


def _tier(tier: Tier, limits: Limits) -> Iterator[str]:
    place = tier.place
    yield f"{place.name}: {place.path} ({place.kind}){_opening(tier.latency)}"
    rows = [_HEAD, *(_row(one, limits) for one in tier.measured())]
    yield from columns(rows, right=_TO_RIGHT)
    yield ""


def _opening(latency: Stat | None) -> str:
    return "" if latency is None else f", {latency.mean * 1e6:.0f} us to open a file"


def _row(one: Measuring, limits: Limits) -> tuple[str, ...]:
    cell = one.cell
    return (
        cell.mode.value,
        _SHORT[cell.layout.value],
        str(cell.processes),
        format_size(cell.block),
        _figure(one.write, limits),
        ("w " if one.cache is Cache.WARM else "") + _figure(one.read, limits),
        str(len(one.writes)),
    )


def _figure(value: Stat | None, limits: Limits) -> str:
    """Mean and its standard error; a star where that is too large."""
    if value is None:
        return "-"
    share = "" if value.share is None else f" +-{value.share:5.1%}"
    star = " " if certain(value, limits) else "*"
    return f"{value.mean / MIB:.1f}{share}{star}"
