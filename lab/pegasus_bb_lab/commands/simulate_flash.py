"""pegasus-bb simulate --flash: what each policy of streams does to the flash."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import orjson

from pegasus_bb.cli.progress_bar import progress
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb_lab.flash.flash_outcome import Outcome
from pegasus_bb_lab.flash.flash_study import Study, study
from pegasus_bb_lab.model.flash_device import FlashInput, read_flash

SEEDS = 3
_SHADES = ".:-=+*#%@"  # each a fifth of WAF, from 1 on


def show_flash(path: Path, *, as_json: bool, seeds: int) -> None:
    """Read ``path`` (docs/flash.md), simulate every policy with so many loads.

    Raises CatalogError.
    """
    found = run_study(read_flash(path), seeds)
    if as_json:
        click.echo(orjson.dumps(to_document(found), option=orjson.OPT_INDENT_2))
    else:
        click.echo("\n".join(lines(found)))


def run_study(wanted: FlashInput, seeds: int) -> Study:
    """With a bar for a person who waits."""
    with progress("runs") as done:
        return study(wanted, range(seeds), done)


def to_document(found: Study) -> dict[str, Any]:
    """For machines. Bandwidth is bytes per second; a value for each seed."""
    return {
        "seeds": len(found.peaks),
        "peaks": found.peaks,
        "auto": {f"{error:g}": found.auto(error) for error in found.wanted.errors},
        "policies": {
            name: {"waf": found.waf(name), "outcomes": [asdict(each) for each in runs]}
            for name, runs in found.outcomes.items()
        },
    }


def lines(found: Study) -> Iterator[str]:
    yield from _load(found)
    yield ""
    yield from _policies(found)
    yield ""
    yield from _streams(found)
    yield ""
    yield "WAF over the time, seed 0; a step of " + _SHADES + " is 0.2, from 1.0 on"
    width = max(map(len, found.outcomes))
    for name, runs in found.outcomes.items():
        yield f"{name:{width}}  |{chart(runs[0])}|"
    yield ""
    for error in found.wanted.errors:
        best = found.auto(error)
        yield (
            f"If lifetimes are known with sigma {error:g}, take: {best} "
            f"(WAF {found.waf(best):.3f})"
        )


def chart(outcome: Outcome) -> str:
    """A character for each part of the time; a blank where nothing was written."""
    return "".join(
        " " if waf is None else _SHADES[min(len(_SHADES) - 1, int((waf - 0.9) * 5))]
        for waf in outcome.series
    )


def _load(found: Study) -> Iterator[str]:
    device = found.wanted.device
    load = found.wanted.load
    trim = "TRIM" if device.trim else "no TRIM"
    yield (
        f"{device.devices} x {format_size(device.capacity)} of "
        f"{format_size(device.raw)} flash, {device.streams} streams, {trim}"
    )
    yield (
        f"{format_duration(load.time)}, figures after {format_duration(load.after)}; "
        f"at most {fmean(found.peaks):.0%} live; seeds: {len(found.peaks)}"
    )


def _policies(found: Study) -> Iterator[str]:
    head = ("policy", "WAF", "least", "most", "MB/s", "host a day", "flash a day")
    rows: list[Sequence[str]] = [(*head, "refused")]
    rows += [_row(name, runs) for name, runs in found.outcomes.items()]
    yield from columns(rows, right=range(1, 8))
    yield "A day: drive writes, of the host and of what wears the flash"


def _row(name: str, runs: Sequence[Outcome]) -> Sequence[str]:
    wafs = [run.waf for run in runs]
    return (
        name,
        *(f"{waf:.3f}" for waf in (fmean(wafs), min(wafs), max(wafs))),
        f"{fmean(run.bandwidth for run in runs) / 1e6:.0f}",
        f"{fmean(run.host_writes_per_day for run in runs):.2f}",
        f"{fmean(run.flash_writes_per_day for run in runs):.2f}",
        f"{fmean(run.refused for run in runs):.1%}",
    )


def _streams(found: Study) -> Iterator[str]:
    """Of the first seed; more streams than fit on a line are in --json."""
    shown = range(min(8, found.wanted.device.streams))
    rows: list[Sequence[str]] = [("WAF of stream", *map(str, shown))]
    for name, runs in found.outcomes.items():
        wafs = (runs[0].streams[stream].waf for stream in shown)
        rows.append((name, *("-" if waf is None else f"{waf:.2f}" for waf in wafs)))
    yield from columns(rows, right=range(1, len(shown) + 1))
