"""The disks of nodes: what is known of them here, and whether nodes have what jobs ask
Slurm or HTCondor for."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import NamedTuple

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.files import is_dir
from pegasus_bb.core.process import ask
from pegasus_bb.core.units import format_size
from pegasus_bb.model.disk_request import ARGUMENTS, DISK, MEMORY, DiskRequest
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.local_files import has_htcondor
from pegasus_bb.run.engine.dagman.queue import largest_disk
from pegasus_bb.runtime.job_reservation.disk import disk_of

_NODES = ["sinfo", "--noheader", "--format=%G"]  # the gres of nodes, each kind once
_GRES = re.compile(r"--gres[= ](\S+)")
# Slurm's form of one gres: NAME[:TYPE][:no_consume]:COUNT[K|M|G|T|P][(S:SOCKETS)]
_COUNT = re.compile(r":(\d+)([KMGTP]?)$")
_SOCKETS = re.compile(r"\([^)]*\)")
_MEMORY = ("tmpfs", "ramfs")
_SMALLER = (
    "bb.tier: pfs for its largest files, fewer tasks if it is a cluster, or a tier "
    "that all nodes see"
)


class Gres(NamedTuple):
    """A generic resource of nodes, or what a job asks for."""

    name: str  # with its type, if it has one
    amount: int


def of_node_disk(tier: Tier, placement: Placement | None) -> Iterator[Finding]:
    """What is known of ``tier``, a disk of each node, without a job there."""
    yield _of_path(tier)
    request = tier.request
    if request is None:
        return
    job, most = _largest_job(placement)
    if request.key == DISK and has_htcondor():
        yield from _of_pool(job, most)
    elif shutil.which(_NODES[0]) is not None:
        yield from _of_request(tier, request, job, most)


def _of_path(tier: Tier) -> Finding:
    path = tier.settings["path"]
    what = f"{path} is looked at on each node, when a job starts there"
    if "$" in path:
        return note("tier", what, _how_to_look(tier))
    if not is_dir(path):
        mend = f"{path} on every machine where jobs start, this one if it is one"
        mend = _how_to_look(tier) or mend
        return note("tier", f"{what}; on this machine it is not", mend)
    kind = ask(["stat", "--file-system", "--format=%T", path], timeout=20.0).out.strip()
    is_counted = tier.request is not None and tier.request.key == MEMORY
    if kind in _MEMORY and not is_counted:
        mend = "the path of a disk, or request: memory+={mb} if nodes have memory "
        mend += "there, too: it counts as the memory of the job"
        return note("tier", f"{what}; on this machine it is memory ({kind})", mend)
    if not has_htcondor():  # `pegasus-bb run` starts every job on this machine
        try:
            disk_of(tier.settings, dict(os.environ))
        except ReservationFailed as error:
            mend = _how_to_look(tier) or "none if no job starts on this machine"
            return note("tier", f"{what}; here it would fail: {error}", mend)
    return note("tier", what, _how_to_look(tier))


def _how_to_look(tier: Tier) -> str:
    """Empty if jobs do not ask Slurm for the disk."""
    request = tier.request
    if request is None or request.key != ARGUMENTS or shutil.which("srun") is None:
        return ""
    path = tier.settings["path"]
    stat = f"stat -f -c %T {path}"
    words = f"sh -c '{stat}'" if "$" in path else stat
    said = "says what a node has there: tmpfs is memory"
    return f"`srun {request.of(1)} {words}` {said}"


def _largest_job(placement: Placement | None) -> tuple[str, int]:
    """The job that needs most, and how much that is; no name if there is none."""
    jobs = placement.job_reservations if placement is not None else {}
    sizes = ((job, own.capacity) for job, own in jobs.items())
    return max(sizes, key=lambda pair: pair[1], default=("", 1))


def _of_pool(job: str, need: int) -> Iterator[Finding]:
    """Nothing if the pool does not tell."""
    most = largest_disk() << 10
    if not most:
        return
    has = f"slots of the pool have {format_size(most)} of disk at most"
    if need <= most:
        yield ok("pool", f"{has}; a job asks for {format_size(need)} at most")
        return
    asks = f"{job} asks for {format_size(need)}: it would wait for ever"
    yield wrong("pool", f"{has}, and {asks}", _SMALLER)


def _of_request(
    tier: Tier, request: DiskRequest, job: str, most: int
) -> Iterator[Finding]:
    """Nothing if it asks for no gres."""
    found = _GRES.search(request.of(most))
    if found is None:
        return
    answer = ask(_NODES, timeout=20.0)
    if answer.status != 0:
        said = answer.one_line[:120]
        yield note("slurm", f"sinfo does not tell the gres of nodes: {said}")
        return
    nodes = read_gres(answer.out)
    for asked in read_gres(found[1]):
        yield _of_gres(tier, nodes, asked, job)


def read_gres(text: str) -> list[Gres]:
    """Of nodes, or of a job. One without a count has 1."""
    words = re.split(r"[,\s]+", _SOCKETS.sub("", text))
    return [_one_gres(word) for word in words if word]


def _one_gres(word: str) -> Gres:
    found = _COUNT.search(word)
    count = int(found[1]) << 10 * " KMGTP".index(found[2] or " ") if found else 1
    name = word[: found.start()] if found else word
    return Gres(name.replace(":no_consume", ""), count)


def _of_gres(tier: Tier, nodes: list[Gres], asked: Gres, job: str) -> Finding:
    """A name alone stands for all types."""
    counts = [
        gres.amount
        for gres in nodes
        if gres.name == asked.name or gres.name.startswith(f"{asked.name}:")
    ]
    if not counts:
        known = ", ".join(sorted({gres.name for gres in nodes})) or "none"
        return wrong(
            "slurm",
            f"no node has the gres {asked.name}, which tier {tier.name} asks for",
            f"a gres of these nodes in the tier's request ({known})",
        )
    most = max(counts)
    has = f"nodes have the gres {asked.name}, {most} of it at most"
    if not job:
        return ok("slurm", has)
    if asked.amount <= most:
        return ok("slurm", f"{has}; a job asks for {asked.amount} at most")
    return wrong(
        "slurm",
        f"{job} asks for {asked.amount} of the gres {asked.name}, and no node has more "
        f"than {most}: Slurm would refuse the job",
        _SMALLER,
    )
