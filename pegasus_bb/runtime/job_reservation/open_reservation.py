"""Opens the space of one job on its tier, or on the PFS if the tier is full.

A job on the PFS is noted in bb/elsewhere/<node>.json, durably, before its task starts;
`pegasus-bb status` and `report` read the notes.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager

from pegasus_bb.core.errors import DEADLINE_PASSED, PegasusBBError, ReservationFailed
from pegasus_bb.core.files import write_json
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir, NodeNeeds
from pegasus_bb.runtime.bind import Binding, shared_binding, submit_dir_binding
from pegasus_bb.runtime.job_reservation.disk import TierFull, is_full, on_the_disk
from pegasus_bb.runtime.job_reservation.mounted import private_space, staged_space
from pegasus_bb.runtime.job_reservation.planned import (
    PlannedReservation,
    is_inside,
    job_reservation,
    landing_of,
    mark,
    own_request,
)
from pegasus_bb.runtime.job_reservation.results import (
    finish,
    forget,
    has_failed,
    note_failure,
)
from pegasus_bb.runtime.job_reservation.space import WORK, SharedInputs, Space, fill
from pegasus_bb.runtime.node_lock import lock_node
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.scratch_links import Link, checked_path, make_link
from pegasus_bb.runtime.task import discard, run_command, run_task, tell

if TYPE_CHECKING:
    from pegasus_bb.runtime.job_reservation.watched_inputs import WatchedInputs


_CAME_WITH_IT = "_CONDOR_SCRATCH_DIR"  # the folder of the files that came with the job


class _RoomIsLate(TierFull):
    """There was no room for this job in the time that the user allowed."""

    exit_code = DEADLINE_PASSED


def run_on_reservation(
    bb: BBDir, node: NodeNeeds, argv: list[str], environ: dict[str, str]
) -> int:
    """Run ``argv`` on the job's reservation; returns its exit status.

    Raises ReservationFailed, UsageError, CopyFailed before anything was started.
    """
    reservation = job_reservation(bb, node, environ)
    if is_inside(reservation, environ):
        return _run_inside(bb, reservation, argv, environ)
    if bb.has_travelled:
        from pegasus_bb.runtime.job_reservation.travelled import make_landing

        make_landing(bb, reservation)
    lock_node(bb, environ)
    if reservation.shared and has_failed(bb, reservation.node):
        reservation = reservation._replace(shared={})  # it may want to write to them
    forget(bb, reservation.node)
    try:
        return _run(bb, reservation, argv, environ)
    except (PegasusBBError, OSError):
        note_failure(bb, reservation, environ)
        raise


def _run_inside(
    bb: BBDir, reservation: PlannedReservation, argv: list[str], environ: dict[str, str]
) -> int:
    """Run a task of a cluster, which has the reservation."""

    def attempt() -> int:
        own = dict(environ)
        if "PEGASUS_BB_TEMP" not in own:
            return run_command(bb, argv, own)
        from pegasus_bb.runtime.job_reservation.temporary_files import run_one_task

        return run_one_task(own, lambda: run_command(bb, argv, own))

    if not reservation.retry:
        return attempt()
    from pegasus_bb.runtime.job_reservation.tries_in_place import run_in_place

    return run_in_place(reservation, argv, environ, attempt)


def _run(
    bb: BBDir, reservation: PlannedReservation, argv: list[str], environ: dict[str, str]
) -> int:
    request = bb.transient()
    shared = shared_binding(bb, environ)
    planned = bb.scratch() if shared else request.prefix
    scratch = shared.text(planned) if shared else planned
    if bb.has_travelled:
        scratch = bb.as_seen_here(planned)
        request = request._replace(prefix=scratch)
    for link in _links_to_results(reservation, request, scratch):
        make_link(link)
    with open_space(bb, request, reservation, environ) as opened:
        space = opened._replace(scratch=(request.prefix, scratch))
        binding = Binding(planned, space.run, shared or submit_dir_binding(bb, environ))
        argv = binding.argv(argv)
        bound = binding.environ(environ)
        argv = _anchor(argv, bound)
        mark(reservation, space.run, bound)
        links = list(_links(reservation, request, space.run, scratch))
        facts: dict[str, int] = {}

        def work() -> int:
            watched = _watched(request, reservation, space)
            with _inside(binding), _temporary_files(request, space, bound, facts):
                status = run_task(
                    bb,
                    binding,
                    argv,
                    bound,
                    links=links,
                    folders=space.shared.folders,
                    vanishing=space.vanishing,
                )
            facts.update(space.shared.facts)
            made = map(space.path, reservation.made)
            status = space.shared.check(status, made)
            status = watched.check(status) if watched else status
            return finish(
                bb,
                reservation,
                space,
                facts,
                status=status,
                environ=environ,
                scratch=scratch,
            )

        if not reservation.evacuation:
            return work()
        from pegasus_bb.runtime.job_reservation.evacuation import run_and_save

        return run_and_save(bb, reservation, space, request.prefix, work)


def _watched(
    request: Request, reservation: PlannedReservation, space: Space
) -> WatchedInputs | None:
    if not reservation.watched:
        return None
    from pegasus_bb.runtime.job_reservation.watched_inputs import WatchedInputs

    return WatchedInputs(request, reservation, space)


@contextlib.contextmanager
def _temporary_files(
    request: Request, space: Space, environ: dict[str, str], facts: dict[str, int]
) -> Iterator[None]:
    """The folder of temporary files where the tier says ``temp``, and the most that was
    in it. A job on the PFS keeps what its node has."""
    if request.settings.get("temp") != "true" or not space.since:
        yield
        return
    from pegasus_bb.runtime.job_reservation.temporary_files import temporary_files

    with temporary_files(os.path.dirname(space.run), environ) as peak:
        yield
    if peak.size is not None:
        facts["temporary"] = peak.size


def _anchor(argv: list[str], environ: dict[str, str]) -> list[str]:
    """Let names of files that came with the job stay true in another folder.

    Pegasus 5.1.3 hands Kickstart lists of files (`-S @./mix.in.lof`, or below
    $_CONDOR_SCRATCH_DIR, which it sets to `.`) that are where the job starts.
    """
    here = os.getcwd()
    if environ.get(_CAME_WITH_IT):
        environ[_CAME_WITH_IT] = os.path.join(here, environ[_CAME_WITH_IT])
    paths = ((word, os.path.join(here, word[1:])) for word in argv)
    return [
        f"@{path}" if word.startswith("@") and os.path.isfile(path) else word
        for word, path in paths
    ]


def _links_to_results(
    reservation: PlannedReservation, request: Request, scratch: str
) -> Iterator[Link]:
    """Mode hybrid: links from the shared reservation to files on the PFS, made before
    other jobs look for these files."""
    if scratch != request.prefix:
        for lfn in (*reservation.stage_out, *reservation.write):
            path = checked_path(scratch, lfn)
            yield Link(lfn, path, checked_path(request.prefix, lfn), ours=True)


def _links(
    reservation: PlannedReservation, request: Request, run: str, scratch: str
) -> Iterator[Link]:
    for lfns, home, ours in (
        (reservation.read, scratch, False),
        (reservation.write, request.prefix, True),
    ):
        for lfn in lfns:
            yield Link(lfn, checked_path(run, lfn), checked_path(home, lfn), ours)


@contextlib.contextmanager
def _inside(binding: Binding) -> Iterator[None]:
    before = os.getcwd()
    there = binding.text(before)
    os.makedirs(there, exist_ok=True)
    os.chdir(there)
    try:
        yield
    finally:
        os.chdir(before)


PATIENCE = 60.0  # seconds that a job waits while its run holds another reservation
_POLL = 1.0  # seconds between two polls of a tier that is full


@contextlib.contextmanager
def open_space(
    bb: BBDir,
    request: Request,
    reservation: PlannedReservation,
    environ: dict[str, str],
) -> Iterator[Space]:
    """The space with the inputs of the job in it, removed afterwards.

    Raises ReservationFailed, CopyFailed.
    """
    if request.kind.is_slurm:
        mounted = private_space if request.access == "private" else staged_space
        yield mounted(request, reservation, environ)
        return
    with contextlib.ExitStack() as stack:
        try:
            shared = _shared_inputs(bb, request, reservation, environ, stack)
            on_tier = _on_tier(bb, request, reservation, environ, shared)
            base = stack.enter_context(on_tier)
            space = fill(request, reservation, base, time.time(), shared)
        except (PegasusBBError, OSError) as error:
            if bb.has_travelled or not _is_tier_full(bb, request, error):
                raise
            stack.close()
            tell(f"{error}; this job works on the PFS")
            _note_elsewhere(bb, reservation, str(error))
            base = stack.enter_context(_on_pfs(request, reservation))
            space = fill(request, reservation, base, 0.0, SharedInputs())
        yield space


def _shared_inputs(
    bb: BBDir,
    request: Request,
    reservation: PlannedReservation,
    environ: dict[str, str],
    stack: contextlib.ExitStack,
) -> SharedInputs:
    """What of the job's inputs is on the node: in the cache there, or come with it."""
    if bb.has_travelled:
        from pegasus_bb.runtime.job_reservation.travelled import TravelledInputs

        return TravelledInputs(request, reservation, environ)
    if not reservation.shared or request.kind.has_reservations:
        return SharedInputs()
    from pegasus_bb.runtime.job_reservation.input_cache import open_cache

    return open_cache(request, reservation, environ, stack)


def _on_tier(
    bb: BBDir,
    request: Request,
    reservation: PlannedReservation,
    environ: dict[str, str],
    shared: SharedInputs,
) -> AbstractContextManager[str]:
    """The folder to work in, on the tier.

    In mode hybrid a run waits for one reservation while it holds another. Two runs that
    do so can block each other for ever, so the job waits for a short time only.
    """
    if not request.kind.has_reservations:
        name = f"{own_request(request, reservation).name}.{reservation.job}"
        capacity = reservation.capacity
        return on_the_disk(request.settings, name, capacity, environ, shared)
    patience = min(PATIENCE, request.wait) if bb.has_request else request.wait
    return _granted(bb, request, reservation, patience)


def _is_tier_full(bb: BBDir, request: Request, error: Exception) -> bool:
    if not request.kind.has_reservations:
        return is_full(error)
    return bb.has_request and isinstance(error, TierFull)


def _note_elsewhere(bb: BBDir, reservation: PlannedReservation, because: str) -> None:
    """Note that this try works on the PFS. Raises OSError; the job then fails."""
    os.makedirs(bb.file(ELSEWHERE), exist_ok=True)
    note = {
        "version": 1,
        "node": reservation.node,
        "job": reservation.job,
        "because": because,
        "host": socket.gethostname(),
        "time": time.time(),
    }
    write_json(bb.file(f"{ELSEWHERE}/{reservation.node}.json"), note)


@contextlib.contextmanager
def _on_pfs(request: Request, reservation: PlannedReservation) -> Iterator[str]:
    """The folder to work in, next to the one where the results arrive."""
    base = landing_of(request.prefix, reservation.node, reservation.job) + WORK
    remove(base)  # of this try before it was killed and restarted
    try:
        yield base
    finally:
        discard(base)


@contextlib.contextmanager
def _granted(
    bb: BBDir, request: Request, reservation: PlannedReservation, patience: float
) -> Iterator[str]:
    own = own_request(request, reservation)
    backend = backend_of(own)
    program.list_request(bb, own)
    try:
        backend.create(own)
    except ReservationFailed:
        program.list_event("refused", own, bb.submit_dir)
        raise
    try:
        _await(backend, own, patience)
        base = backend.path(own, {})
        remove(os.path.join(base, "run"))  # of a killed try
        yield base
    finally:
        try:
            backend.delete(own)
            program.list_event("released", own, bb.submit_dir)
        except (PegasusBBError, OSError) as error:  # its data is safe, or lost
            tell(f"{own.name} was not given back: {error}")


def _await(backend: Backend, own: Request, patience: float) -> None:
    until = time.monotonic() + patience
    while True:
        backend.settle()
        status = backend.status(own)
        if status.state is State.READY:
            return
        if status.state not in (State.PENDING, State.UNKNOWN, State.STAGING_IN):
            message = f"{status.state.value}: {status.message}"
            raise ReservationFailed(f"{own.name}: {message}")
        if time.monotonic() >= until:
            more = ""
            if patience == own.wait:
                more = "; pegasus.bb.wait says how long to wait"
            raise _RoomIsLate(
                f"no room of {format_size(own.capacity)} for this job within "
                f"{format_duration(patience)}: {status.message}{more}"
            )
        time.sleep(_POLL)
