"""The jobs of a machine over weeks, read from a YAML file. Times are seconds.

    applications:                # one row each, as in the APEX workflows document
      - {name: EAP, share: 60, walltime: 984h,
         cores: {routine: 32768, hero: 65536}, pipelines: 125}
    workflows: 60                # pipelines of the campaign
    sizes: {factor: 1.2, sigma: 0.48}     # log-normal, around 1.2 x routine
    full_machine: 1              # further runs of one job's walltime on all nodes
    checkpoint: 35               # per cent of memory
    interval: daly               # young | daly | 3600s
    queue: first-fit             # first-fit | fcfs
    walltime: 24h                # of one job
    campaign: 72d                # the time that an ideal machine would take

A pipeline is a chain of jobs that continue each other. ``share`` is a share of the
machine's time. Without ``workflows``, ``walltime`` of an application is the computing
time of one of its pipelines. Without ``sizes``, one in ``pipelines`` is a hero run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Entry, load
from pegasus_bb.model.quantities import (
    Source,
    choice,
    count,
    percent,
    positive,
    seconds,
    text,
)
from pegasus_bb.model.records import key, read_record, record
from pegasus_bb_lab.model.machine import Machine

APEX = "apex"  # of the package
YOUNG = "young"
DALY = "daly"
FIRST_FIT = "first-fit"
FCFS = "fcfs"
_LONGEST = 3650 * 86400  # seconds of a campaign
_CORES = 10**9  # of a job; none is larger than the machine


@dataclass(frozen=True, slots=True)
class Cores:
    """Of a pipeline."""

    routine: int = key(count(_CORES))
    hero: int = key(count(_CORES))


@dataclass(frozen=True, slots=True)
class Application:
    name: str = key(text)
    share: float = key(positive(100))  # of the machine's time; relative to the others
    walltime: float = key(seconds("such as 192h"))  # that one pipeline computes
    cores: Cores = key(record(Cores))
    pipelines: int = key(count())  # one in this many is a hero run


@dataclass(frozen=True, slots=True)
class Sizes:
    """Cores of a pipeline: log-normal around ``factor`` times the routine ones."""

    factor: float = key(positive(1000))
    sigma: float = key(positive(5))  # of the natural logarithm


def _interval(entry: Entry) -> float | str:
    if entry.data in (YOUNG, DALY):
        return str(entry.data)
    return seconds(f"{YOUNG}, {DALY}, or such as 3600s")(entry)


def _applications(entry: Entry) -> tuple[Application, ...]:
    needs = ("name", "share", "walltime", "cores", "pipelines")
    root = entry.document.entry()
    each = root.entries("applications", "an application", *needs)
    if not each:
        raise entry.error("a mix without applications")
    return tuple(read_record(Application, one) for one in each)


@dataclass(frozen=True)
class Mix:
    applications: tuple[Application, ...] = key(_applications)
    # None: those of the applications.
    sizes: Sizes | None = key(record(Sizes), None)
    full_machine: int = key(count(least=0), 0)  # runs on all nodes
    # Pipelines of the campaign; 0: as many as their walltime fills.
    workflows: int = key(count(), 0)
    checkpoint: float = key(percent(positive(100)))  # share of memory
    # Seconds of computing between two checkpoints, or a rule.
    interval: float | str = key(_interval)
    queue: str = key(choice(FIRST_FIT, FCFS), FIRST_FIT)
    walltime: float = key(seconds("such as 24h"), 24 * 3600.0)  # of a job
    campaign: float = key(seconds("such as 72d", _LONGEST))
    source: Source = field(default=Source(), compare=False)


def read_mix(name: str, machine: Machine, variables: Mapping[str, str]) -> Mix:
    """The mix of the file ``name``, or ``apex``. Raises CatalogError, also if a job
    would be larger than ``machine``."""
    path = Path(name)
    if name == APEX:
        path = Path(__file__).parents[1] / "templates" / "apex.yml"
    elif not path.exists():
        raise CatalogError(
            "there is no such file, and no such mix",
            file=name,
            would_do=f"--mix {APEX}, of Cao et al., or a file (docs/sizing.md)",
        )
    entry = load(path, variables).entry()
    mix = read_record(Mix, entry, source=Source(name, entry.document))
    for at, each in enumerate(mix.applications):
        cores = entry.below("applications", at, "cores")
        _check_fits(cores.below("routine"), each.cores.routine, machine)
        _check_fits(cores.below("hero"), each.cores.hero, machine)
    if mix.sizes is not None:
        largest = max(each.cores.routine for each in mix.applications)
        widest = math.ceil(mix.sizes.factor * largest)
        _check_fits(entry.below("sizes", "factor"), widest, machine)
    return mix


def _check_fits(entry: Entry, cores: int, machine: Machine) -> None:
    most = machine.nodes * machine.cores
    if cores > most:
        what = f"a job of {cores} cores is larger than the machine"
        raise entry.error(what, would_do=f"at most {most} ({machine.source})")
