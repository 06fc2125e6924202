"""Runs a job on its job reservation, in modes transient and hybrid.

    <reservation>/run        the task's working directory: replaces the run's scratch
    <reservation>/results    results to stage out, in a folder of this try (datawarp)

The task's files have the names that they have in the run's scratch: on the PFS, or in
mode hybrid on the shared reservation. Its results are noted, with size and digest,
before the job ends. await_stage_out waits for these bytes, whatever the batch system
reports.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir, Node
from pegasus_bb.runtime.bind import Binding, shared_binding
from pegasus_bb.runtime.job_reservation.open_reservation import open_space
from pegasus_bb.runtime.job_reservation.planned import (
    JobReservation,
    is_inside,
    job_reservation,
    mark,
)
from pegasus_bb.runtime.job_reservation.results import finish, forget, note_failure
from pegasus_bb.runtime.links import Link, checked_path, make_link
from pegasus_bb.runtime.node_lock import lock_node
from pegasus_bb.runtime.task import run_command, run_task

_CAME_WITH_IT = "_CONDOR_SCRATCH_DIR"  # the folder of the files that came with the job


def run_on_reservation(
    bb: BBDir, node: Node, argv: list[str], environ: dict[str, str]
) -> int:
    """Run ``argv`` on the job's reservation; returns its exit status.

    Raises ReservationFailed, UsageError, CopyFailed before anything was started.
    """
    reservation = job_reservation(bb, node, environ)
    if is_inside(reservation, environ):
        return run_command(bb, argv, environ)
    lock_node(bb, environ)
    forget(bb, reservation.node)
    try:
        return _run(bb, reservation, argv, environ)
    except (PegasusBBError, OSError):
        note_failure(bb, reservation, environ)
        raise


def _run(
    bb: BBDir, reservation: JobReservation, argv: list[str], environ: dict[str, str]
) -> int:
    request = bb.transient()
    shared = shared_binding(bb, environ)
    planned = bb.scratch() if shared else request.prefix
    scratch = shared.text(planned) if shared else planned
    for link in _links_to_results(reservation, request, scratch):
        make_link(link)
    with open_space(bb, request, reservation, environ) as space:
        binding = Binding(planned, space.run, shared)
        argv = binding.argv(argv)
        bound = binding.environ(environ)
        argv = _anchor(argv, bound)
        mark(reservation, bound)
        links = list(_links(reservation, request, space.run, scratch))
        with _inside(binding):
            status = run_task(bb, binding, argv, bound, links)
        return finish(bb, reservation, space, status, environ, scratch)


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
    reservation: JobReservation, request: Request, scratch: str
) -> Iterator[Link]:
    """Mode hybrid: links from the shared reservation to files on the PFS, made before
    other jobs look for these files."""
    if scratch != request.prefix:
        for lfn in (*reservation.stage_out, *reservation.write):
            path = checked_path(scratch, lfn)
            yield Link(lfn, path, checked_path(request.prefix, lfn), ours=True)


def _links(
    reservation: JobReservation, request: Request, run: str, scratch: str
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
