"""The options of simulate --mix: what to compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import click

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.model.quantities import MOST
from pegasus_bb_lab.model.machine import PLACEMENTS, SHARED, Machine

Command = TypeVar("Command", bound=Callable[..., Any])

SEEDS = 10
_CASES = 10_000  # of one study
_NUMBER = re.compile("[0-9]{1,7}")


@dataclass(frozen=True)
class MixOptions:
    mix: str
    machine: Path | None
    arch: str | None
    nodes: str | None
    placement: str | None
    capacity: str | None
    pfs: str | None
    parity: str | None
    repair: str | None
    seeds: int | None
    html: Path | None
    trace: Path | None


def mix_options(command: Command) -> Command:
    """The options of MixOptions."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--mix", metavar="FILE|apex", help="The jobs; apex: those of Cao et al. 2017."
    ),
    click.option("--machine", type=Path, metavar="FILE", help="The machine, in YAML."),
    click.option(
        "--arch",
        metavar="shared,local",
        help="Architectures to compare. Default: all that the machine has.",
    ),
    click.option("--nodes", metavar="N,...", help="Shared buffer nodes."),
    click.option(
        "--placement",
        metavar="P,...",
        help=f"Of stripes on shared nodes: {', '.join(PLACEMENTS)}.",
    ),
    click.option(
        "--capacity", metavar="SIZE,...", help="Of all buffer nodes together."
    ),
    click.option("--pfs", metavar="RATE,...", help="Bandwidth of the PFS: 500GB/s."),
    click.option(
        "--parity", metavar="%,...", help="Per cent of the buffers' bandwidth."
    ),
    click.option("--repair", metavar="TIME,...", help="Until a failed node is back."),
    click.option(
        "--seeds",
        type=click.IntRange(1, 100_000),
        help=f"Campaigns of each case ({SEEDS}); with --provision or --flash: runs.",
    ),
    click.option("--html", type=Path, help="Write a page with figures into this file."),
    click.option(
        "--trace",
        type=Path,
        help="Write every event of the first seed into this file, as lines of JSON.",
    ),
)


def architectures_of(options: MixOptions, machine: Machine) -> list[str]:
    if options.arch is None:
        return list(machine.buffers)
    names = [each.strip() for each in options.arch.split(",")]
    for name in names:
        if name not in machine.buffers:
            raise UsageError(
                f"--arch {name}: {machine.source} has no such buffer; it has "
                + ", ".join(machine.buffers)
            )
    return list(dict.fromkeys(names))


def variations_of(options: MixOptions) -> dict[str, list[Any]]:
    """Option -> values, of those that are given."""
    readers: dict[str, Callable[[str], Any]] = {
        "nodes": _count,
        "placement": _placement,
        "capacity": lambda text: float(parse_size(text)),
        "pfs": _rate,
        "parity": _per_cent,
        "repair": lambda text: float(parse_duration(text)),
    }
    found: dict[str, list[Any]] = {}
    for key, read in readers.items():
        given = getattr(options, key)
        if given is not None:
            found[key] = [_value(key, text.strip(), read) for text in given.split(",")]
            found[key] = list(dict.fromkeys(found[key]))
    return found


def _value(key: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except UsageError as error:
        raise UsageError(f"--{key} {text}: {error}") from error


def _count(text: str) -> int:
    if not _NUMBER.fullmatch(text) or not 0 < int(text) <= MOST:
        raise UsageError(f"not a number of nodes above zero and not above {MOST}")
    return int(text)


def _placement(text: str) -> str:
    if text not in PLACEMENTS:
        raise UsageError(f"not a placement; one of {', '.join(PLACEMENTS)}")
    return text


def _rate(text: str) -> float:
    rate = parse_size(text.removesuffix("/s"))
    if rate <= 0 or text.isdecimal():
        raise UsageError("not a bandwidth above zero with a unit, such as 500GB/s")
    return float(rate)


def _per_cent(text: str) -> float:
    if not _NUMBER.fullmatch(text) or int(text) > 99:
        raise UsageError("not a per cent from 0 to 99")
    return int(text) / 100


def check_variations(
    machine: Machine,
    architectures: Sequence[str],
    variations: dict[str, list[Any]],
) -> None:
    """What an option varies has to be there, and not too often."""
    count = len(architectures) * prod(map(len, variations.values()))
    if count > _CASES:
        names = ", ".join(f"--{key}" for key in variations)
        raise UsageError(
            f"{names} make {count:,} cases, and a study has at most {_CASES:,}; name "
            "fewer values"
        )
    for key in ("nodes", "placement"):
        if key in variations and SHARED not in architectures:
            raise UsageError(f"--{key} varies shared buffer nodes; add --arch {SHARED}")
    if "repair" in variations and machine.faults is None:
        raise UsageError(f"--repair: {machine.source} has no faults to repair")
    stripes = machine.buffers[SHARED].stripes if SHARED in machine.buffers else 1
    few = [nodes for nodes in variations.get("nodes", ()) if nodes < stripes]
    if few:
        raise UsageError(f"--nodes {few[0]}: a file has {stripes} stripes")
