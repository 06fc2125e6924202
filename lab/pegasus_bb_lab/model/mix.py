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
    check_mapping,
    read_choice,
    read_count,
    read_positive,
    read_seconds,
)
from pegasus_bb_lab.model.machine import Machine

APEX = "apex"  # of the package
YOUNG = "young"
DALY = "daly"
FIRST_FIT = "first-fit"
FCFS = "fcfs"
_OF_MIX = (
    "applications",
    "sizes",
    "full_machine",
    "workflows",
    "checkpoint",
    "interval",
)
_LONGEST = 3650 * 86400  # seconds of a campaign
_CORES = 10**9  # of a job; none is larger than the machine
_OF_QUEUE = ("queue", "walltime", "campaign")
_OF_APPLICATION = ("name", "share", "walltime", "cores", "pipelines")


@dataclass(frozen=True, slots=True)
class Application:
    name: str
    share: float  # of the machine's time; relative to the others
    walltime: float  # that one pipeline computes
    routine: int  # cores
    hero: int  # cores
    pipelines: int  # one in this many is a hero run


@dataclass(frozen=True, slots=True)
class Sizes:
    """Cores of a pipeline: log-normal around ``factor`` times the routine ones."""

    factor: float
    sigma: float  # of the natural logarithm


@dataclass(frozen=True)
class Mix:
    applications: tuple[Application, ...]
    sizes: Sizes | None  # None: those of the applications
    full_machine: int  # runs on all nodes
    workflows: int  # pipelines of the campaign; 0: as many as their walltime fills
    checkpoint: float  # share of memory
    interval: float | str  # seconds of computing between two checkpoints, or a rule
    queue: str
    walltime: float  # of a job
    campaign: float
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
    needs = ("applications", "checkpoint", "interval", "campaign")
    check_mapping(entry, (*_OF_MIX, *_OF_QUEUE), needs)
    applications = _applications(entry, machine)
    sizes = None
    if "sizes" in entry.data:
        largest = max(each.routine for each in applications)
        sizes = _sizes(entry.below("sizes"), largest, machine)
    return Mix(
        applications=applications,
        sizes=sizes,
        full_machine=read_count(entry, "full_machine", 0, least=0),
        workflows=read_count(entry, "workflows") if "workflows" in entry.data else 0,
        checkpoint=read_positive(entry, "checkpoint", 100) / 100,
        interval=_interval(entry),
        queue=read_choice(entry, "queue", (FIRST_FIT, FCFS), FIRST_FIT),
        walltime=_walltime(entry),
        campaign=read_seconds(entry, "campaign", "such as 72d", _LONGEST),
        source=Source(name, entry.document),
    )


def _applications(entry: Entry, machine: Machine) -> tuple[Application, ...]:
    found = tuple(
        _application(each, machine)
        for each in entry.entries("applications", "an application", *_OF_APPLICATION)
    )
    if not found:
        raise entry.below("applications").error("a mix without applications")
    return found


def _application(entry: Entry, machine: Machine) -> Application:
    entry.check_keys(_OF_APPLICATION, "an application")
    cores = entry.below("cores")
    check_mapping(cores, ("routine", "hero"), ("routine", "hero"))
    for key in ("routine", "hero"):
        _check_fits(cores.below(key), read_count(cores, key, most=_CORES), machine)
    return Application(
        name=str(entry.data["name"]),
        share=read_positive(entry, "share", 100),
        walltime=read_seconds(entry, "walltime", "such as 192h"),
        routine=cores.data["routine"],
        hero=cores.data["hero"],
        pipelines=read_count(entry, "pipelines"),
    )


def _sizes(entry: Entry, largest: int, machine: Machine) -> Sizes:
    check_mapping(entry, ("factor", "sigma"), ("factor", "sigma"))
    factor = read_positive(entry, "factor", 1000)
    _check_fits(entry.below("factor"), math.ceil(factor * largest), machine)
    return Sizes(factor, read_positive(entry, "sigma", 5))


def _check_fits(entry: Entry, cores: int, machine: Machine) -> None:
    most = machine.nodes * machine.cores
    if cores > most:
        what = f"a job of {cores} cores is larger than the machine"
        raise entry.error(what, would_do=f"at most {most} ({machine.source})")


def _interval(entry: Entry) -> float | str:
    value = entry.data["interval"]
    if value in (YOUNG, DALY):
        return str(value)
    return read_seconds(entry, "interval", f"{YOUNG}, {DALY}, or such as 3600s")


def _walltime(entry: Entry) -> float:
    if "walltime" not in entry.data:
        return 24 * 3600.0
    return read_seconds(entry, "walltime", "such as 24h")
