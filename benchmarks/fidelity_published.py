"""Forecasts of pairs of runs that were published: one on the PFS, one on a fast tier.

Known are the seconds on the PFS, the bytes, and the rates that a site published. What
the tasks ask of storage beside bytes is not, so each forecast is a range: at most half
of their time is calls. That bound is from Cori's pairs; NEXTGenIO's had no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.fidelity_cases import Forecast
from benchmarks.one_site import (
    File,
    options_in,
    replica,
    site_documents,
    write_documents,
)
from pegasus_bb.api.explaining import explained

GB = 10**9
_AT_ONCE = {"queue": "0s", "job": "0s", "own": "0s"}  # makespans are those of the tasks
# Lockwood et al. 2018, and the site's own pages: Lustre 744 GB/s; 288 buffer nodes, 1.7
# TB/s in all, which grant 20 GiB each.
CORI = {
    "slots": 1,
    "startup": _AT_ONCE,
    "pfs": {"read": "744GB/s", "write": "744GB/s", "ops": "30000/s"},
    "bb": {
        "read": "1700GB/s",
        "write": "1700GB/s",
        "per_granule": "5.9GB/s",
        "ops": "300000/s",
    },
}
# Miranda et al. 2019, section V: Lustre behind one link of 56 Gb/s; memory of the nodes
# up to an order of magnitude faster (Fig. 8, without figures in the text).
NEXTGENIO = {
    "slots": 1,
    "startup": _AT_ONCE,
    "pfs": {"read": "7GB/s", "write": "7GB/s", "ops": "30000/s"},
    "bb": {"read": "70GB/s", "write": "70GB/s", "ops": "300000/s"},
}
TIERS = {"datawarp": {"granularity": "20GiB"}, "directory": {"path": "/nvm"}}


class Job(NamedTuple):
    name: str
    pfs: float  # seconds
    bb: float
    nodes: int = 1
    reads: int = 0  # GB
    writes: int = 0


SGT = Job("AWP-ODC-SGT", 1.09 * 3600, 0.95 * 3600, 313, writes=550)
SYNTH = Job("direct_synth", 8.13 * 3600, 6.97 * 3600, 64, reads=550, writes=22)
PRODUCER = Job("producer", 96, 64, writes=100)
CONSUMER = Job("consumer", 74, 30, reads=100)
DECOMPOSITION = Job("decomposition", 1191, 1105)  # of bytes not told
SOLVER = Job("solver", 123, 66, 16, writes=160)
CYBERSHAKE = "CyberShake on Cori (Ferreira da Silva et al. 2019, Table 1)"
SYNTHETIC = "synthetic on NEXTGenIO (Miranda et al. 2019, Table III)"
OPENFOAM = "OpenFOAM on NEXTGenIO (Miranda et al. 2019, Table V)"
ROWS: tuple[tuple[str, dict[str, Any], str, tuple[Job, ...]], ...] = (
    (CYBERSHAKE, CORI, "datawarp", (SGT,)),
    (CYBERSHAKE, CORI, "datawarp", (SYNTH,)),
    (CYBERSHAKE, CORI, "datawarp", (SGT, SYNTH)),
    (SYNTHETIC, NEXTGENIO, "directory", (PRODUCER,)),
    (SYNTHETIC, NEXTGENIO, "directory", (CONSUMER,)),
    (SYNTHETIC, NEXTGENIO, "directory", (PRODUCER, CONSUMER)),
    (OPENFOAM, NEXTGENIO, "directory", (DECOMPOSITION,)),
    (OPENFOAM, NEXTGENIO, "directory", (SOLVER,)),
)
LEFT_OUT = (
    "1000genome on Cori (Ferreira da Silva et al. 2019, Fig. 7): left out, its times "
    "are in a picture alone",
    "OpenFOAM as a whole: left out, the bytes between its phases are not told",
)


def of_papers(folder: Path) -> Iterator[Forecast | str]:
    """Yield the time on the tier as a part of that on the PFS, then what is left out
    and what ``auto`` says."""
    choices = []
    for number, (title, speeds, backend, jobs) in enumerate(ROWS):
        place = folder / str(number)
        place.mkdir(parents=True)
        _write(place, speeds, {"backend": backend, **TIERS[backend]}, jobs)
        found = explained(options_in(place)).predicted
        assert found is not None
        modes = {mode.mode: mode for mode in found.modes}
        off = modes["off"].makespan
        low, high = modes["persistent"].low / off, modes["persistent"].high / off
        measured = sum(job.bb for job in jobs) / sum(job.pfs for job in jobs)
        what = f"{title}, {' and '.join(job.name for job in jobs)}"
        yield Forecast(f"{what}, tier / PFS", low, high, [measured])
        choices.append(f"{what}: auto takes {found.choice.mode}: {found.choice.reason}")
    yield from LEFT_OUT
    yield from choices


def _write(
    folder: Path, speeds: dict[str, Any], tier: dict[str, Any], jobs: tuple[Job, ...]
) -> None:
    before = ("data", *(job.name for job in jobs))
    programs = {job.name for job in jobs}
    write_documents(
        folder,
        workflow={
            "name": "published",
            "jobs": [_job(*pair) for pair in zip(jobs, before, strict=False)],
        },
        replicas={"replicas": [replica("data")]},
        **site_documents("site", "/scratch", {"name": "bb", **tier}, speeds, programs),
    )


def _job(job: Job, before: str) -> dict[str, Any]:
    """``before``: the job, or the input, that its bytes come from."""
    uses = [File(before, "input", job.reads * GB)] if job.reads else []
    uses += [File(job.name, "output", job.writes * GB)]
    profiles = {"runtime": str(int(job.pfs)), "nodes": str(job.nodes)}
    return {
        "type": "job",
        "name": job.name,
        "id": job.name,
        "arguments": [],
        "uses": [use.use for use in uses],
        "profiles": {"pegasus": profiles},
    }
