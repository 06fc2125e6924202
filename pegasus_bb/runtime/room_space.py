"""The space of one job: mounted by the batch system, or a folder that we make."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
import time
from dataclasses import replace
from typing import ContextManager, Dict, Iterator, NamedTuple

from pegasus_bb.errors import PegasusBBError, ReservationFailed
from pegasus_bb.model.reservation import NODE_LOCAL, Request, State
from pegasus_bb.removal import remove
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import elsewhere, program
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.links import checked_path
from pegasus_bb.runtime.room import Room, check_one_node, landing_of
from pegasus_bb.staging.folder import copy_path
from pegasus_bb.units import format_duration, format_size

PATIENCE = 60.0  # seconds that a job with a share of another reservation waits
_LOOK = 1.0  # seconds between two looks at a tier that is full


class Space(NamedTuple):
    """Where a job works, and where it puts what is to come back."""

    run: str  # stands for the run's scratch
    results: str  # of this try
    by_system: bool  # the batch system stages; else launch does
    since: float = 0.0  # when it had the reservation; 0 where it works on the PFS


class NoRoomYet(ReservationFailed):
    """Nothing is wrong but that the tier is full."""


@contextlib.contextmanager
def opened(
    bb: BBDir, request: Request, room: Room, environ: Dict[str, str]
) -> Iterator[Space]:
    """The space with all that the job reads in it; what was made for it goes after.

    Raises ReservationFailed, CopyFailed.
    """
    if request.backend == "datawarp":
        ours = request.access == "private"
        yield (_private if ours else _mounted)(request, room, environ)
        return
    with contextlib.ExitStack() as held:
        try:
            base = held.enter_context(_fast(bb, request, room, environ))
            space = _filled(request, room, base, time.time())
        except (PegasusBBError, OSError) as error:
            if not _goes_elsewhere(bb, request, error):
                raise
            held.close()
            print(f"launch: {error}; this job works on the PFS", file=sys.stderr)
            elsewhere.note(bb, room.node, room.job, str(error))
            landing = landing_of(request.prefix, room.node, room.job)
            base = held.enter_context(elsewhere.folder(landing))
            space = _filled(request, room, base, 0.0)
        yield space


def _fast(
    bb: BBDir, request: Request, room: Room, environ: Dict[str, str]
) -> ContextManager[str]:
    """The folder to work in, on the tier.

    In mode hybrid the run holds a reservation while it waits for another, as others
    may, and who does that can wait for ever: so it waits not for long.
    """
    if request.backend == NODE_LOCAL:
        from pegasus_bb.runtime.room_disk import on_the_disk

        name = f"{own_request(request, room).name}.{room.job}"
        return on_the_disk(request.settings, name, room.capacity, environ)
    patience = min(PATIENCE, request.wait) if bb.has_request else request.wait
    return _granted(bb, request, room, patience)


def _goes_elsewhere(bb: BBDir, request: Request, error: Exception) -> bool:
    """Whether the job works on the PFS for want of room, rather than not at all."""
    if request.backend == NODE_LOCAL:
        from pegasus_bb.runtime.room_disk import is_full

        return is_full(error)
    return bb.has_request and isinstance(error, NoRoomYet)


def _filled(request: Request, room: Room, base: str, since: float) -> Space:
    """With all that is brought there. Raises CopyFailed."""
    results = landing_of(request.prefix, room.node, room.job)
    elsewhere.drop_older(results)
    space = Space(os.path.join(base, "run"), results, False, since)
    _make_folders(room, space)
    for lfn in room.stage_in:
        source = checked_path(request.prefix, lfn)
        copy_path(source, checked_path(space.run, lfn), digest=False)
    return space


def job_space(request: Request, environ: Dict[str, str]) -> str:
    """What the batch system mounted for this job. Raises ReservationFailed."""
    variable = f"DW_JOB_{request.access.upper()}"
    path = environ.get(variable, "")
    if not path.startswith("/"):
        found = repr(path) if path else "not set"
        raise ReservationFailed(
            f"${variable} is {found} in this job: Slurm was not given its `#DW jobdw`, "
            "or the space is not attached to this node\n"
            f"  see:    `scontrol show job {environ.get('SLURM_JOB_ID') or 'NUMBER'}` "
            "has no line BurstBuffer= where Slurm was not given it\n"
            "  likely: blahp's slurm_local_submit_attributes.sh, which hands it on, is "
            "missing on the submit host (README, On a real site, administrator 3)"
        )
    if any(c < " " or c in "\"\\'" for c in path) or not os.path.isdir(path):
        raise ReservationFailed(
            f"${variable} says {path!r}, which is not a directory on this node"
        )
    required = request.settings.get("mount", "required") != "any"
    above = os.path.dirname(os.path.realpath(path))
    if required and os.stat(path).st_dev == os.stat(above).st_dev:
        raise ReservationFailed(
            f"${variable} says {path}, but nothing is mounted there on this node"
        )
    return path.rstrip("/")


def _private(request: Request, room: Room, environ: Dict[str, str]) -> Space:
    """The system stages nothing there: we bring the files and take results back."""
    check_one_node(environ)
    base = job_space(request, environ)
    remove(os.path.join(base, "run"))  # of this very job, requeued
    return _filled(request, room, base, time.time())


def _mounted(request: Request, room: Room, environ: Dict[str, str]) -> Space:
    base = job_space(request, environ)
    results = os.path.join(base, "results")
    space = Space(
        os.path.join(base, "run"), os.path.join(results, room.job), True, time.time()
    )
    # Before all else: what is not there cannot be staged out, and Slurm then keeps the
    # space of a job that failed.
    os.makedirs(results, exist_ok=True)
    landing = os.path.dirname(landing_of(request.prefix, room.node, room.job))
    os.makedirs(landing, exist_ok=True)
    _make_folders(room, space)
    for lfn in room.stage_in:
        _check_staged_in(request, space, lfn)
    return space


def _check_staged_in(request: Request, space: Space, lfn: str) -> None:
    here, there = checked_path(space.run, lfn), checked_path(request.prefix, lfn)
    wanted = os.stat(there)
    try:
        found = os.stat(here)
    except FileNotFoundError:
        raise ReservationFailed(
            f"{lfn}: was not staged in: {here} is not there, {there} is"
        ) from None
    if found.st_size != wanted.st_size:
        raise ReservationFailed(
            f"{lfn}: was not staged in whole: {here} has {found.st_size} bytes, "
            f"{there} {wanted.st_size}"
        )
    mode = stat.S_IMODE(wanted.st_mode) & 0o777
    if stat.S_IMODE(found.st_mode) != mode:  # a program must stay one
        os.chmod(here, mode)


def _make_folders(room: Room, space: Space) -> None:
    os.makedirs(space.run, exist_ok=True)
    names = (*room.stage_in, *room.stage_out, *room.share, *room.read, *room.write)
    for folder in {os.path.dirname(lfn) for lfn in names if "/" in lfn}:
        os.makedirs(checked_path(space.run, folder), exist_ok=True)


# -- a reservation of our own


def own_request(request: Request, room: Room) -> Request:
    """The reservation of that node; every try of it has the same."""
    import hashlib

    digest = hashlib.sha256(f"{request.uuid}/{room.node}".encode()).hexdigest()[:19]
    name = request.name[: -len(request.uuid.replace("-", "")[:12])] + digest
    return replace(request, name=name, capacity=room.capacity)


@contextlib.contextmanager
def _granted(bb: BBDir, request: Request, room: Room, patience: float) -> Iterator[str]:
    own = own_request(request, room)
    backend = open_backend(own.backend, own.settings)
    submit_dir = program.submit_dir(bb)
    program.list_event(
        "requested",
        own,
        submit_dir,
        host=socket.gethostname(),
        label=bb.label(),
        request=own.to_json(),
    )
    try:
        backend.create(own)
    except ReservationFailed:
        program.list_event("refused", own, submit_dir)
        raise
    try:
        _await(own, patience)
        base = backend.path(own, {})
        remove(os.path.join(base, "run"))  # of a try that was killed
        yield base
    finally:
        try:
            backend.delete(own)
            program.list_event("released", own, submit_dir)
        except (PegasusBBError, OSError) as error:  # what it had is safe, or lost
            print(f"launch: {own.name} was not given back: {error}", file=sys.stderr)


def _await(own: Request, patience: float) -> None:
    backend = open_backend(own.backend, own.settings)
    until = time.monotonic() + patience
    while True:
        found = backend.status(own)
        if found.state is State.READY:
            return
        if found.state not in (State.PENDING, State.UNKNOWN, State.STAGING_IN):
            raise ReservationFailed(f"{own.name}: {found.state.value}: {found.message}")
        if time.monotonic() >= until:
            more = ""
            if patience == own.wait:
                more = "; pegasus.bb.wait says how long to wait"
            raise NoRoomYet(
                f"no room of {format_size(own.capacity)} for this job within "
                f"{format_duration(patience)}: {found.message}{more}"
            )
        time.sleep(_LOOK)
