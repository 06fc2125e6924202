"""pegasus-bb status: how far a run, its reservation and its data are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson

from pegasus_bb.cli.fallback import fallback_of, pfs_lines
from pegasus_bb.cli.output import echo_lines
from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import (
    abbreviate,
    format_duration,
    format_reserved,
    format_size,
)
from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.report.reserved import reserved_byte_hours
from pegasus_bb.report.run_notes import count_job_reservations, jobs_on_pfs
from pegasus_bb.run.engine.causes import is_continuation
from pegasus_bb.run.engine.dagman.job_waits import wait_messages
from pegasus_bb.run.engine.kept_folders import kept_folders
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.run.engine.tier_usage import bytes_below
from pegasus_bb.run.inventory.run_state import RunStatus, run_status
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.base import Backend
from pegasus_bb.runtime.bbdir import BBDir

_STATES = (
    "done",
    "running",
    "ready",
    "waiting",  # in any case
    "held",
    "deferred",
    "failed",
    "futile",
)
_OVER = "MORE THAN RESERVED, at the cost of other runs on this tier"
_SHOWN = 8  # names of nodes


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.argument("submit_dir", type=click.Path(path_type=Path))
def command(*, as_json: bool, submit_dir: Path) -> None:
    """Show the nodes of a run by state, its reservation, the bytes on the tier, and
    the last failures with what would do. Asks the files of SUBMIT_DIR and the backend;
    changes nothing.
    """
    place = find_submit_dir(submit_dir)
    status = run_status(place)
    reservation = reservation_status(place.bb)
    fallback = fallback_of(place.bb)
    hours = reserved_byte_hours(place.path)
    if as_json:
        document = {**asdict(status), "reservation": reservation, "fallback": fallback}
        document["waits"] = [wait._asdict() for wait in status.waits]
        document["reserved_byte_hours"] = hours
        document["job_reservations"] = count_job_reservations(place.path)
        document["kept"] = [kept._asdict() for kept in kept_folders(place)]
        document["on_pfs"] = [asdict(job) for job in jobs_on_pfs(place.path)[0]]
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    else:
        echo_lines(_lines(status, reservation))
        if hours is not None:
            so_far = " so far" if status.engine else ""
            click.echo(f"reserved{so_far}: {format_reserved(hours)}")
        for line in pfs_lines(place.path):
            click.echo(line)
        for kept in kept_folders(place):
            click.echo(f"kept of a failed try of {kept.node}: {kept.words}")


def reservation_status(bb: Path) -> dict[str, Any] | None:
    """What the backend says about the run's reservation; None where it has none.

    Before the run has asked for it there is nothing that the backend could know.
    """
    folder = BBDir(str(bb))
    if not folder.has_request:
        return None
    request = folder.request()
    noted = folder.reservation()
    found: dict[str, Any] = {
        "name": request.name,
        "backend": request.backend,
        "capacity": request.capacity,
        "waiting_since": _waiting_since(folder),
        "released_at": noted.released_at if noted else None,
    }
    if noted is None and reservation_identity.requested_at(folder):
        message = "its note was lost; `pegasus-bb run` writes it again"
        return {**found, "message": message}
    if noted is None:
        return {**found, "state": State.ABSENT.value, "message": "not asked for yet"}
    return found | _asked(folder, request, noted)


def _asked(bb: BBDir, request: Request, noted: Reservation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        backend = open_backend(request.backend, request.settings)
        answer = _status(bb, backend, request, noted)
        found |= {"state": answer.state.value, "message": answer.message}
        found["size"] = answer.size
        path = Path(backend.path(request, os.environ))
        found["path"] = str(path)
        found["bytes"], found["complete"] = bytes_below(path)
        found["over"] = found["bytes"] > request.capacity
        disk = os.statvfs(path)
        found["free"] = disk.f_bavail * disk.f_frsize
    except PegasusBBError as error:  # not mounted here, not up yet: no path to look at
        found.setdefault("message", str(error))
    return found


def _status(
    bb: BBDir, backend: Backend, request: Request, noted: Reservation
) -> Status:
    """The backend refuses the reservation of another user, but lists it: that is what
    an operator or a colleague sees."""
    answer = reservation_identity.status(bb, noted, backend)
    if bb.is_ours:
        return answer
    rows = backend.list_reservations([]).rows
    listed = (row.status for row in rows if row.name == request.name)
    return next(listed, answer)


def _waiting_since(folder: BBDir) -> float | None:
    try:
        gate = orjson.loads(Path(folder.file("gate.json")).read_bytes())
        return float(gate["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _lines(status: RunStatus, reservation: dict[str, Any] | None) -> Iterator[str]:
    running = f"running ({status.engine})" if status.engine else ""
    given_back = reservation is not None and reservation["released_at"] is not None
    who = running or _not_running(status, given_back=given_back)
    yield f"{status.submit_dir}/{status.dag}: {who}"
    shown = [name for name in _STATES if status.nodes.get(name) or name in _STATES[:4]]
    shown.append("total")
    counts = [str(status.nodes.get(name, 0)) for name in shown]
    yield from columns([shown, counts], right=range(len(shown)))
    if status.running:
        yield f"running: {abbreviate(status.running, _SHOWN)}"
    yield from wait_messages(status.waits)
    if status.held:
        yield f"held: {abbreviate(status.held, _SHOWN)}"
        yield (
            "  `condor_q -hold` says why, and `condor_release` lets a job go on once "
            "that is mended"
        )
    if reservation is not None:
        yield reservation_line(reservation)
    if status.last_failures:
        yield "failed:"
        yield from status.last_failures
    yield from status.cause


def _not_running(status: RunStatus, *, given_back: bool) -> str:
    left = status.nodes["total"] - status.nodes["done"]
    if not left:
        return "done"
    if status.moved_from:
        return f"moved from {status.moved_from}: move it back, or plan it again"
    goes_on = any(map(is_continuation, status.cause))
    # Once the space was given back, bb_delete alone can still be run; and all, if no
    # job ever had it.
    if given_back and left > 1 and not goes_on:
        return "stopped; `pegasus-bb run --restart` starts over"
    if status.cause and not goes_on:
        return "stopped; the last lines say what would do"
    if status.finished is not None:
        return "stopped; `pegasus-bb run` continues it"
    return (
        "killed; `pegasus-bb run` continues it" if status.last_event else "not started"
    )


def reservation_line(found: dict[str, Any]) -> str:
    parts = []
    absent = found.get("state") == State.ABSENT.value
    if found["released_at"] is not None:
        when = time.localtime(found["released_at"])
        parts.append(f"given back at {time.strftime('%Y-%m-%d %H:%M:%S', when)}")
    if not absent:
        parts.append(str(found.get("state", "state not known")))
    if found.get("waiting_since"):
        waited = format_duration(time.time() - found["waiting_since"])
        parts.append(f"the gate has waited {waited}")
    if "bytes" in found:
        least = "" if found["complete"] else "at least "
        used = f"{least}{format_size(found['bytes'])}"
        parts.append(f"{used} of {format_size(found['capacity'])} used")
        if found["over"]:
            parts.append(_OVER)
        elif found.get("free", found["capacity"]) < found["capacity"] - found["bytes"]:
            parts.append(f"ONLY {format_size(found['free'])} FREE on its file system")
    if found.get("message") and not (absent and found["released_at"]):
        parts.append(str(found["message"]))
    return f"reservation {found['name']} ({found['backend']}): {', '.join(parts)}"
