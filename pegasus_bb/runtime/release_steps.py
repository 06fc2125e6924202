"""The steps of a release: check the status, delete, check that it is absent."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pegasus_bb.core.errors import (
    PegasusBBError,
    ReservationFailed,
    SchedulerUnreachable,
)
from pegasus_bb.core.units import format_size
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime.backends.backend_table import backend_of
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.programs import program
from pegasus_bb.runtime.reservation_identity import GONE, foreign, mismatch, on_storage


def tell_freed(request: Request) -> None:
    """Ask for a discard of each dataspace in which ``request`` had a folder."""
    sockets = request.settings.get("service", "")
    if not sockets or request.kind.cleans_up:  # whose service has removed it
        return
    from pegasus_bb.runtime.stager_client.client import (
        Client,  # most tiers have no service
    )
    from pegasus_bb.runtime.stager_client.dataspace import url_of

    try:
        with Client(sockets) as client:
            roots = client.ask("ping")["roots"]
            places = (url_of(folder, roots) for folder in _folders(request))
            for space in sorted({place.partition("://")[0] for place in places} - {""}):
                client.ask("discard", space=space)
    except (PegasusBBError, OSError) as error:
        message = f"the staging service was not told of free space: {error}"
        print(f"delete: {message}", file=sys.stderr, flush=True)


def _folders(request: Request) -> Iterator[str]:
    """Its own one, and those in pools, which may lie on other flash."""
    root = os.path.realpath(request.settings.get("path", "/"))
    for pool in ("", *request.settings.get("pools", "").split()):
        yield os.path.join(os.path.realpath(os.path.join(root, pool)), request.name)


def release_command(name: str, *, loses_nothing: bool) -> str:
    """The command that gives reservation ``name`` back, as every message has it."""
    discard = "" if loses_nothing else " --discard"
    return f"pegasus-bb release {shlex.quote(name)}{discard}"


def release_reservation(
    request: Request,
    noted: Reservation | None,
    backend: Backend,
    status: Callable[[], Status],
    *,
    unused: bool = False,
) -> str:
    """Release the reservation with its data; returns a message.

    ``status`` asks the scheduler. ``unused``: it has no data of the run, and a
    reservation that may be another run's is kept. Raises ReservationFailed,
    SchedulerUnreachable.
    """
    backend.settle()
    shown = status()
    left_alone = check_releasable(request, noted, shown, unused=unused)
    if left_alone:
        return left_alone
    backend.delete(request)  # if it is absent, this cancels a pending request
    if shown.state is State.ABSENT:
        return absent_message(request, noted)
    after = status()
    if after.state is State.UNKNOWN:
        raise SchedulerUnreachable(
            f"asked to give {request.name} back, but whether it is gone is not known: "
            f"{after.message}"
        )
    if after.state is not State.ABSENT:
        raise ReservationFailed(
            f"reservation {request.name} is still there after it was given back "
            f"({after.state.value}: {after.message})"
        )
    tell_freed(request)
    return f"reservation {request.name} ({format_size(shown.size)}) was given back"


def check_releasable(
    request: Request, noted: Reservation | None, shown: Status, *, unused: bool = False
) -> str:
    """Empty if the reservation is this run's, or absent.

    Raises SchedulerUnreachable, and ReservationFailed if it is not this run's. With
    ``unused`` that is no error: the message says why it is kept.
    """
    if shown.state is State.UNKNOWN:
        raise SchedulerUnreachable(f"{request.name} was kept: {shown.message}")
    if shown.state is State.ABSENT:
        return ""
    if not unused:
        why = mismatch(shown, request, noted)
        if why:
            raise ReservationFailed(f"{why}; it was kept")
        return ""
    made = shown.uuid or (noted is not None and (noted.job or noted.owner))
    why = foreign(shown, request, noted)
    if made and not why:
        return ""
    reason = why or shown.message or shown.state.value
    return f"nothing of this run is there to give back ({reason})"


def absent_message(request: Request, noted: Reservation | None) -> str:
    if noted is not None and noted.released_at is not None:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(noted.released_at))
        return f"reservation {request.name} was given back before, at {when}"
    return (
        f"reservation {request.name} is not there: nothing to give back. Either it "
        "never came up, or something else removed it"
    )


def why_storage_is_gone(request: Request, place: str) -> str:
    """Why the storage ``place`` is not there, or why nothing tells whether it is.

    Raises ReservationFailed if the reservation is there, or is known to be absent.
    """
    backend = backend_of(request)
    why = backend.why_other_storage(place) or why_unknown(request)
    if not why:
        discard = release_command(request.name, loses_nothing=False)
        raise ReservationFailed(
            f"nothing says that the storage of reservation {request.name} is gone; it "
            f"was kept. To drop what is on it: {discard}"
        )
    return why


def why_unknown(request: Request) -> str:
    """Why nothing tells whether the reservation is there; empty if something does."""
    backend = backend_of(request)
    shown = backend.status(request)
    if shown.state is State.UNKNOWN:
        return shown.message
    try:
        backend.pools()
    except PegasusBBError as error:  # no Slurm here, say
        return str(error)
    return ""


@contextmanager
def naming_the_way_on(request: Request) -> Iterator[None]:
    """Add to an error how to give up a reservation of which nothing is known."""
    try:
        yield
    except (ReservationFailed, SchedulerUnreachable) as error:
        if "--gone" in str(error) or not why_unknown(request):
            raise
        raise type(error)(f"{error}. {GONE.format(request.name)}") from error


def discard_orphan(request: Request, asked: float, submit_dir: str) -> str:
    """Release, with its data, a reservation that was requested at ``asked`` by a run
    whose ``submit_dir`` is gone; returns a message.

    Only a user may request this, because no record tells which data are safe. Raises
    ReservationFailed, SchedulerUnreachable.
    """
    backend = backend_of(request)
    message = release_reservation(
        request,
        Reservation(request.name, request.backend, request.uuid, asked),
        backend,
        lambda: on_storage(backend, request, "", backend.status(request)),
    )
    program.list_event("discarded", request, submit_dir)
    return message


def give_up_orphan(request: Request, submit_dir: str) -> str:
    """Record that a reservation is gone with its storage, for a run whose
    ``submit_dir`` is gone. Raises ReservationFailed if the storage is there."""
    why = why_storage_is_gone(request, "")
    program.list_event("discarded", request, submit_dir)
    return f"reservation {request.name} was given up: {why}"
