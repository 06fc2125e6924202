"""pegasus-bb simulate --provision: the bandwidth that proactive draining needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import columns
from pegasus_bb.model.draining import AGGRESSIVE, DrainingInput, read_draining
from pegasus_bb.simulation.draining.equations import GB
from pegasus_bb.simulation.draining.provision import Provision, Provisioning, provision
from pegasus_bb.units import format_duration

_RATES = ("bandwidth", "shared", "provisioned")


def show_provisioning(path: Path, as_json: bool) -> None:
    """Read ``path`` (docs/draining.md), print what the storage needs.

    Raises CatalogError, an overload included.
    """
    wanted = read_draining(path)
    found = provision(wanted)
    if as_json:
        document = to_document(found)
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return
    click.echo("\n".join([*_applications(wanted, found), "", *_strategies(found)]))
    click.echo("\n".join(["", *_conclusion(wanted, found)]))


def to_document(found: Provisioning) -> dict[str, Any]:
    """For machines. Bandwidths are in GB/s (10^9 bytes), segments in seconds."""
    strategies = {name: asdict(each) for name, each in found.strategies.items()}
    for each in strategies.values():
        each.update({key: each[key] / GB for key in _RATES})
    return {
        "unit": "GB/s",
        "ideal": found.ideal / GB,
        "reactive": {name: rate / GB for name, rate in found.reactive.items()},
        "strategies": strategies,
    }


def _applications(wanted: DrainingInput, found: Provisioning) -> list[str]:
    rows = [("application", "GB", "every", "mean GB/s", "reactive GB/s")]
    for each in wanted.applications:
        mean, reactive = each.size / each.interval, found.reactive[each.name]
        every = format_duration(each.interval)
        rows.append((each.name, f"{each.size / GB:g}", every, _gb(mean), _gb(reactive)))
    rows.append(("all", "", "", _gb(found.ideal), ""))
    return columns(rows, right=(1, 2, 3, 4))


def _strategies(found: Provisioning) -> list[str]:
    head = ("strategy", "stripes", "segment", "GB/s a target", "with positioning")
    rows: list[tuple[str, ...]] = [(*head, "targets", "GB/s in all")]
    rows += (_row(name, each) for name, each in found.strategies.items())
    return columns(rows, right=range(1, 7))


def _row(name: str, each: Provision) -> tuple[str, ...]:
    return (
        name,
        str(each.n_io),
        f"{each.segment * 1e3:.1f} ms",
        _gb(each.bandwidth),
        _gb(each.shared),
        f"{each.groups:.4g}",
        _gb(each.provisioned),
    )


def _conclusion(wanted: DrainingInput, found: Provisioning) -> Iterator[str]:
    needed = found.strategies[AGGRESSIVE].provisioned
    yield (
        f"Proactive draining needs {_gb(needed)} GB/s, "
        f"{needed / found.ideal - 1:.1%} above the mean of all dumps."
    )
    name, most = max(found.reactive.items(), key=lambda item: item[1])
    yield (
        f"Reactive draining needs {_gb(most)} GB/s for {name} alone, in "
        f"{wanted.io_share:.4g} of its interval."
    )


def _gb(rate: float) -> str:
    return f"{rate / GB:.4g}"
