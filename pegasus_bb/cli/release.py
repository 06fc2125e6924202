"""pegasus-bb release: give a reservation back by hand."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from pegasus_bb.core import ledger
from pegasus_bb.core.errors import DataNotSafe, UsageError
from pegasus_bb.core.ledger import LedgerReservation
from pegasus_bb.run.engine.lock import lock_submit_dir
from pegasus_bb.run.engine.nothing_lost import why_nothing_lost
from pegasus_bb.run.engine.submitdir import SubmitDir, find_submit_dir
from pegasus_bb.run.inventory.leftovers import check_not_running, discard_of_one_job
from pegasus_bb.run.inventory.located import LocatedReservation, RunFinder
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.programs.delete import give_up, release
from pegasus_bb.runtime.programs.program import list_request
from pegasus_bb.runtime.release_steps import (
    discard_orphan,
    give_up_orphan,
    naming_the_way_on,
    release_command,
)


@click.command("release")
@click.option(
    "--discard", is_flag=True, help="Release it even if results are not saved."
)
@click.option(
    "--gone",
    metavar="NAME",
    help="With --discard: the storage of NAME is gone for good.",
)
@click.argument("name")
def command(name: str, *, discard: bool, gone: str | None) -> None:
    """Give back the reservation NAME, or that of the submit directory NAME.

    Without --discard this is refused unless every promised result is at its
    destination, no job ever had the reservation, or its run failed before any task was
    done.

    --discard loses data that is only on the burst buffer. It needs the name of the
    reservation: as NAME, or typed once more on a terminal.

    If the folder of a directory tier is missing, it may only be unmounted; and Slurm
    may not tell whether a buffer is there. --gone NAME says that it will not come back,
    and records its data as lost.
    """
    one = _locate(name)
    known = one.entry.name
    if gone is not None and (gone != known or not discard):
        raise UsageError(
            f"--gone {gone!r}: say --discard with it, and the name of the reservation "
            f"once more, {known}; nothing was given up"
        )
    with ExitStack() as stack:
        if discard and one.request is not None:
            stack.enter_context(naming_the_way_on(one.request))
        _give_back(name, one, discard=discard, gone=bool(gone))


def _give_back(
    name: str, one: LocatedReservation, *, discard: bool, gone: bool
) -> None:
    known = one.entry.name
    bb = one.bb
    if bb is None:
        click.echo(_unseen(one, discard=discard, gone=gone))
        return
    place = find_submit_dir(Path(bb.path).parent)
    with lock_submit_dir(place.lock):
        check_not_running(place)
        if one.is_of_one_job and not gone:
            click.echo(discard_of_one_job(known))
            return
        if discard:
            _confirm(name, known)
        if one.is_of_one_job and one.request is not None:
            click.echo(give_up_orphan(one.request, one.submit_dir))
            return
        click.echo(give_up(bb) if gone else _release(place, bb, discard=discard))
    if discard:
        click.echo(f"`pegasus-bb run --restart {place.path}` starts over")


def _release(place: SubmitDir, bb: BBDir, *, discard: bool) -> str:
    try:
        return release(bb, discard=discard)
    except DataNotSafe:
        claim = why_nothing_lost(place)
        if not claim:
            raise
    return release(bb, why_nothing_lost=claim)


def _confirm(typed: str, known: str) -> None:
    """Raises UsageError unless the user typed the name of what will be lost."""
    if sys.stdin.isatty():
        typed = click.prompt(f"Unsaved data on {known} will be lost. Type its name")
    if typed != known:
        raise UsageError(
            f"{typed!r} is not the name of the reservation; nothing was given back. To "
            f"drop what is on it: {release_command(known, loses_nothing=False)}"
        )


def _locate(name: str) -> LocatedReservation:
    """The reservation meant. Raises UsageError where there is none."""
    finder = RunFinder()
    known = [entry for entry in ledger.reservations() if entry.name == name]
    found = [finder.locate(entry) for entry in reversed(known)]
    if found:
        return next((one for one in found if one.bb), found[0])
    bb = BBDir(str(Path(name) / "bb"))
    if not bb.has_request and bb.is_transient:
        raise UsageError(
            f"{name!r}: each job of that run has a reservation of its own, which ends "
            "with the job; `pegasus-bb ls` names those that are kept"
        )
    if not bb.has_request:
        raise UsageError(
            f"{name!r} is neither a submit directory with a reservation nor the name "
            f"of one that this user asked for by the ledger {ledger.path()}; name the "
            "submit directory of its run"
        )
    request = bb.request()
    noted = bb.reservation()
    is_listed = any(x.get("uuid") == request.uuid for x in ledger.find(request.name))
    if noted and noted.released_at is None and bb.is_ours and not is_listed:
        list_request(bb, request)  # the ledger was lost, and --discard takes the name
    entry = LedgerReservation(
        request.name, request.uuid, request.backend, request.capacity
    )
    return LocatedReservation(entry, bb, request)


def _unseen(one: LocatedReservation, *, discard: bool, gone: bool) -> str:
    """Where the submit directory is away, it is unknown what is safe."""
    entry = one.entry
    request = one.request
    away = (
        f"reservation {entry.name} was asked for by the run in {entry.submit_dir}, "
        "which is not there any more"
    )
    if entry.end:
        raise UsageError(f"{away}; the ledger has it as {entry.end}")
    if one.is_of_another_host:
        raise UsageError(
            f"{away}: it was planned on host {entry.host}. Say it there; or name the "
            "submit directory where it is now"
        )
    if request is None or not discard:
        would_do = (
            one.problem
            or "Where it is gone for good, and what is "
            f"on it may go too: {release_command(entry.name, loses_nothing=False)}"
        )
        raise UsageError(
            f"{away}; name the submit directory where it is now. {would_do}"
        )
    _confirm(entry.name, entry.name)
    if gone:
        return give_up_orphan(request, entry.submit_dir)
    return discard_orphan(request, entry.time, entry.submit_dir)
