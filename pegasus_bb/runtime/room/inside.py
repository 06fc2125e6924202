"""A job on a reservation of its own, in modes transient and hybrid.

    <reservation>/run        the task's working directory: stands for the run's scratch
    <reservation>/results    what comes back, in a folder of this try (datawarp)

The task sees its files under the names that they have in the run's scratch: on the PFS,
or in mode hybrid on the reservation that all jobs share. Its results are noted, with
size and digest, before the job ends: whoever goes on from them looks for these bytes,
whatever the batch system says of the job.
"""

from __future__ import annotations

import contextlib
import os
from typing import Callable, Dict, Iterator, List, Optional

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.alone import Alone
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding, Nested
from pegasus_bb.runtime.links import Link, checked_path, make_link
from pegasus_bb.runtime.room.opened import opened
from pegasus_bb.runtime.room.planned import Room, mark
from pegasus_bb.runtime.room.results import finish, forget, note_failure

Start = Callable[[Binding, List[str], Dict[str, str], List[Link]], int]
Shared = Callable[[], Optional[Binding]]  # where the reservation of all jobs is


def run_in_room(
    bb: BBDir,
    room: Room,
    argv: List[str],
    environ: Dict[str, str],
    start: Start,
    shared: Shared = lambda: None,
) -> int:
    """Run ``argv`` on the job's own reservation, by ``start``; its exit status.

    Raises ReservationFailed, UsageError, CopyFailed before anything was started.
    """
    with Alone(bb, environ):
        forget(bb, room.node)
        try:
            return _run(bb, room, argv, environ, start, shared())
        except (PegasusBBError, OSError):
            note_failure(bb, room, environ)
            raise


def _run(
    bb: BBDir,
    room: Room,
    argv: List[str],
    environ: Dict[str, str],
    start: Start,
    shared: Optional[Binding],
) -> int:
    request = bb.transient()
    planned = bb.scratch() if shared else request.prefix
    scratch = shared.text(planned) if shared else planned
    for link in _ways_home(room, request, scratch):
        make_link(link)
    with opened(bb, request, room, environ) as space:
        binding = Binding(planned, space.run)
        if shared:
            binding = Nested(planned, space.run, shared)
        argv, bound = binding.argv(argv), binding.environ(environ)
        mark(room, bound)
        links = list(_links(room, request, space.run, scratch))
        with _inside(binding):
            status = start(binding, argv, bound, links)
        return finish(bb, room, space, status, environ, scratch)


def _ways_home(room: Room, request: Request, scratch: str) -> Iterator[Link]:
    """Mode hybrid: what comes back to the PFS, or lives there, is found by way of the
    shared reservation; so these links are there before anybody can look for it."""
    if scratch != request.prefix:
        for lfn in (*room.stage_out, *room.write):
            path = checked_path(scratch, lfn)
            yield Link(lfn, path, checked_path(request.prefix, lfn), ours=True)


def _links(room: Room, request: Request, run: str, scratch: str) -> Iterator[Link]:
    """What lives elsewhere; what it only reads there is not its to change."""
    for lfns, home, ours in (
        (room.read, scratch, False),
        (room.write, request.prefix, True),
    ):
        for lfn in lfns:
            yield Link(lfn, checked_path(run, lfn), checked_path(home, lfn), ours)


@contextlib.contextmanager
def _inside(binding: Binding) -> Iterator[None]:
    """Stand where the batch system has put the job, but on its own reservation."""
    before = os.getcwd()
    there = binding.text(before)
    os.makedirs(there, exist_ok=True)
    os.chdir(there)
    try:
        yield
    finally:
        os.chdir(before)
