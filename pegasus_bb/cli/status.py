"""pegasus-bb status: how far a run, its reservation and its data are."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from pegasus_bb import ledger
from pegasus_bb.cli.fallback import fallback_of, pfs_lines
from pegasus_bb.engine.status import RunStatus, bytes_below, run_status, submit_place
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.model.reservation import Request, Reservation, State
from pegasus_bb.report.reserved import reserved_byte_hours
from pegasus_bb.report.run_notes import count_job_reservations, jobs_on_pfs
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.units import format_duration, format_size

_STATES = (
    *("done", "running", "ready", "waiting"),  # in any case
    *("held", "deferred", "failed", "futile"),
)
_OVER = "MORE THAN RESERVED, at the cost of other runs on this tier"
_FAILED = "failed"
_EARLIER, _MENDED = "failed in an earlier attempt", "failed earlier, then done"


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@click.argument("submit_dir", type=click.Path(path_type=Path))
def command(as_json: bool, submit_dir: Path) -> None:
    """Show the nodes of a run by state, its reservation, the bytes on the tier and
    the last failures. Asks the files of SUBMIT_DIR and the backend; changes nothing.
    """
    status = run_status(submit_dir)
    place = submit_place(submit_dir)
    reservation, fallback = reservation_status(place.bb), fallback_of(place.bb)
    hours = reserved_byte_hours(place.path)
    if as_json:
        document = {**asdict(status), "reservation": reservation, "fallback": fallback}
        document["reserved_byte_hours"] = hours
        document["job_reservations"] = count_job_reservations(place.path)
        document["on_pfs"] = [asdict(job) for job in jobs_on_pfs(place.path)[0]]
        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    else:
        _show(status, reservation)
        if hours is not None:
            so_far = " so far" if status.engine else ""
            click.echo(f"reserved{so_far}: {format_size(int(hours))} x hours")
        for line in pfs_lines(place.path):
            click.echo(line)


def reservation_status(bb: Path) -> dict[str, Any] | None:
    """What the backend says about the run's reservation; None where it has none.

    Before the run has asked for it there is nothing that the backend could know.
    """
    folder = BBDir(str(bb))
    if not folder.has_request:
        return None
    request = folder.request()
    noted = folder.reservation()
    lost = noted is None and bool(reservation_identity.asked_at(folder))
    found: dict[str, Any] = {
        "name": request.name,
        "backend": request.backend,
        "capacity": request.capacity,
        "waiting_since": _waiting_since(folder),
        "released_at": noted.released_at if noted else None,
        "how_released": _how_released(noted) if noted else "",
    }
    if lost:
        return found | _found_again(folder, request)
    if noted is None:
        return {**found, "state": State.ABSENT.value, "message": "not asked for yet"}
    return found | _asked(folder, request, noted)


def _found_again(bb: BBDir, request: Request) -> dict[str, Any]:
    """Where reservation.json was lost: `run` writes it again."""
    try:
        noted = reservation_identity.found_again(bb)
    except PegasusBBError as error:
        return {"message": str(error)}
    if noted is None:
        words = "reservation.json was lost, and nothing of it is there"
        return {"state": State.ABSENT.value, "message": words}
    return _asked(bb, request, noted)


def _asked(bb: BBDir, request: Request, noted: Reservation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        backend = open_backend(request.backend, request.settings)
        answer = reservation_identity.status(bb, noted)
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


def _how_released(noted: Reservation) -> str:
    """In words, empty where it was not; the ledger knows whether data went with it."""
    if noted.released_at is None:
        return ""
    for entry in ledger.find(noted.name):  # the newest first
        event = entry.get("event")
        if entry.get("uuid") == noted.uuid and event in ("released", "discarded"):
            return "discarded" if event == "discarded" else "given back"
    return "given back"


def _waiting_since(folder: BBDir) -> float | None:
    try:
        gate = orjson.loads(Path(folder.file("gate.json")).read_bytes())
        return float(gate["since"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _show(status: RunStatus, reservation: dict[str, Any] | None) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    running = f"running ({status.engine})" if status.engine else ""
    who = running or _not_running(status, (reservation or {}).get("how_released", ""))
    console.print(f"{status.submit_dir}/{status.dag}: {who}")
    table = Table(box=None, pad_edge=False)
    shown = [name for name in _STATES if status.nodes.get(name) or name in _STATES[:4]]
    for name in (*shown, "total"):
        table.add_column(name, justify="right")
    table.add_row(*(str(status.nodes.get(name, 0)) for name in (*shown, "total")))
    console.print(table)
    if status.running:
        console.print(f"running: {_names(status.running)}")
    if status.held:
        console.print(
            f"held: {_names(status.held)}\n  `condor_q -hold` says why, and "
            "`condor_release` lets a job go on once that is mended"
        )
    if reservation is not None:
        console.print(reservation_line(reservation))
    failures = status.last_failures
    for heading in (_FAILED, _EARLIER, _MENDED):
        here = [failure for failure in failures if _heading(failure) == heading]
        _show_failures(console, heading, here)


def _names(nodes: list[str]) -> str:
    more = len(nodes) - 8
    return ", ".join(nodes[:8]) + (f" and {more} more" * (more > 0))


def _heading(failure: dict[str, Any]) -> str:
    if failure["done_since"]:
        return _MENDED
    return _EARLIER if failure["earlier"] else _FAILED


def _show_failures(
    console: Console, heading: str, failures: list[dict[str, Any]]
) -> None:
    if failures:
        console.print(f"{heading}:")
    for failure in failures:
        when = _clock(failure["time"])
        console.print(f"  {when} {failure['node']}: {failure['why']}")
        for line in failure["lines"]:
            console.print(f"  {line}")


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _not_running(status: RunStatus, how_released: str) -> str:
    left = status.nodes["total"] - status.nodes["done"]
    if not left:
        return "done"
    # Once the space was given back, bb_delete alone can still be run.
    if how_released == "discarded" or (how_released and left > 1):
        return "stopped; pegasus-bb run --restart starts over"
    if status.finished is not None:
        return "stopped; pegasus-bb run goes on"
    return "killed; pegasus-bb run goes on" if status.last_event else "not started"


def reservation_line(found: dict[str, Any]) -> str:
    """What ``reservation_status`` has found, for a person."""
    parts = []
    absent = found.get("state") == State.ABSENT.value
    if found["how_released"]:
        parts.append(f"{found['how_released']} at {_clock(found['released_at'])}")
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
    if found.get("message") and not (absent and found["how_released"]):
        parts.append(str(found["message"]))
    return f"reservation {found['name']} ({found['backend']}): {', '.join(parts)}"
