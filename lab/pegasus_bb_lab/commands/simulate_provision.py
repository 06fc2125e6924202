"""pegasus-bb simulate --provision: the bandwidth that proactive draining needs.

With seeds, the policies of draining are simulated as well.
"""

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
from pegasus_bb.core.units import format_duration, format_number
from pegasus_bb_lab.model.applications import AGGRESSIVE, DrainingInput, read_draining
from pegasus_bb_lab.provision.comparison import PolicyFigures, simulate_policies
from pegasus_bb_lab.provision.equations import GB
from pegasus_bb_lab.provision.provision import Provision, Provisioning, provision

_RATES = ("bandwidth", "shared", "provisioned")


def show_provisioning(path: Path, *, as_json: bool, seeds: int = 0) -> None:
    """Read ``path`` (docs/draining.md), print what the storage needs, and what each
    policy does with it in so many simulated runs.

    Raises CatalogError, an overload included.
    """
    wanted = read_draining(path)
    found = provision(wanted)
    simulated = None
    if seeds:
        with progress("runs") as done:
            simulated = simulate_policies(wanted, seeds, done)
    if as_json:
        document = to_document(found)
        if simulated is not None:
            document["policies"] = _policies_document(simulated)
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2))
        return
    lines = [*_applications(wanted, found), "", *_strategies(found)]
    lines += ["", *_conclusion(wanted, found)]
    if simulated is not None:
        lines += ["", *_policies(simulated, seeds)]
    click.echo("\n".join(lines))


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


def _policies_document(found: PolicyFigures) -> dict[str, Any]:
    document = asdict(found)
    for policy in (document["reactive"], document["proactive"]):
        policy["peaks"] = [rate / GB for rate in policy["peaks"]]
    optimum = {"peaks": [rate / GB for rate in found.optimum]}
    return {**document, "load": found.load / GB, "optimum": optimum}


def _policies(found: PolicyFigures, seeds: int) -> Iterator[str]:
    yield (
        f"Simulated on {found.groups} targets, aggressive; peaks of "
        f"{format_duration(found.window)}, seeds: {seeds}"
    )
    rows = [["policy", "peak GB/s", "least", "most", "late dumps", "the latest"]]
    for name, each in (("reactive", found.reactive), ("proactive", found.proactive)):
        late = f"{each.late} of {each.dumps}"
        rows.append([name, *_spread(each.peaks), late, format_duration(each.latest)])
    rows.append(["optimum", *_spread(found.optimum), "none", ""])
    yield from columns(rows, right=range(1, 6))


def _spread(rates: Sequence[float]) -> list[str]:
    return [_gb(rate) for rate in (fmean(rates), min(rates), max(rates))]


def _applications(wanted: DrainingInput, found: Provisioning) -> list[str]:
    rows = [("application", "GB", "every", "mean GB/s", "reactive GB/s")]
    for each in wanted.applications:
        mean = each.size / each.interval
        reactive = found.reactive[each.name]
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
        format_number(each.groups, 4),
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
        f"{format_number(wanted.io_share, 4)} of its interval."
    )


def _gb(rate: float) -> str:
    return format_number(rate / GB, 4)
