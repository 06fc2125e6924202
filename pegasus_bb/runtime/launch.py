"""Start a job of the site on the burst buffer: `launch ARGV...`.

The planned prefix becomes this job's real path in ARGV, environment and stdin, the
links that the placement asks for are made, ARGV runs, and what a task put in the place
of a link moves to where it belongs. The exit status is ARGV's; 76 where the reservation
is not there: nothing is ever written to the current folder by mistake.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from functools import partial
from typing import Dict, List, Optional, Sequence

from pegasus_bb.errors import BUG, PegasusBBError, ReservationFailed, UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.alone import Alone
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.links import (
    Link,
    LinkFailed,
    bring_home,
    is_stray,
    make_link,
    planned_links,
)

KICKSTART = "pegasus-kickstart"
COUNTERS = b"# pegasus_bb io: "  # begins the line that follows a record

_SHOWN = 10  # names in a message; the rest is counted


def main(argv: Optional[Sequence[str]] = None) -> int:
    """``launch ARGV...``: the exit status of ARGV, or our own where it did not run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return launch(BBDir.of_this_program(), arguments, dict(os.environ))
    except PegasusBBError as error:
        print(f"launch: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # of ours: a full disk under bb/running, say
        where = f"{error.filename}: " if error.filename else ""
        print(f"launch: {where}{error.strerror}", file=sys.stderr)
        return BUG


def launch(bb: BBDir, argv: List[str], environ: Dict[str, str]) -> int:
    """Run ``argv`` for the run that ``bb`` belongs to; its exit status.

    Raises ReservationFailed, UsageError, LinkFailed before anything was started.
    """
    if not argv:
        raise UsageError("launch has nothing to start; say: launch PROGRAM [ARG...]")
    if bb.is_transient:
        from pegasus_bb.runtime.room.planned import is_inside, room_of

        room = room_of(bb, environ)
        if room is not None:
            if is_inside(room, environ):
                return run_command(bb, argv, environ)
            from pegasus_bb.runtime.room.inside import run_in_room

            shared = partial(_bound, bb, environ)
            return run_in_room(bb, room, argv, environ, partial(_run_bound, bb), shared)
    binding = _bound(bb, environ)
    if binding is None:
        with Alone(bb, environ):
            return run_command(bb, argv, environ)
    argv, environ = binding.argv(argv), binding.environ(environ)
    links = job_links(bb, binding, environ)
    with Alone(bb, environ):
        return _run_bound(bb, binding, argv, environ, links)


def _bound(bb: BBDir, environ: Dict[str, str]) -> Optional[Binding]:
    """Where the reservation that all jobs share is; None where there is none. Raises
    ReservationFailed."""
    if not bb.has_request:
        return None
    return Binding(bb.request().prefix, real_path(bb, environ))


def _run_bound(
    bb: BBDir,
    binding: Binding,
    argv: List[str],
    environ: Dict[str, str],
    links: Sequence[Link],
) -> int:
    """Run what was bound already, with its stdin and its links."""
    environ = {**environ, "PEGASUS_BB_FOLDERS": os.pathsep.join(binding.folders())}
    if wants_stdin(argv):
        bind_stdin(binding, environ)
    for link in links:
        _tell(make_link(link))
    status = run_command(bb, argv, environ)
    if status:
        from pegasus_bb.runtime.absent import note_absent

        _tell(about_unmade(links))
        note_absent(bb, binding, environ.get("PEGASUS_DAG_JOB_ID", ""))
    return bring_strays_home(links, status)


def real_path(bb: BBDir, environ: Dict[str, str]) -> str:
    """Where the reservation is, for this job, or what stands for it on the PFS. Raises
    ReservationFailed."""
    request = bb.request()
    path = _place(bb, request, environ)
    if not os.path.isabs(path) or any(c < " " or c in "\"\\'" for c in path):
        raise ReservationFailed(
            f"reservation {request.name}: its path {path!r} cannot be used; it must be "
            "a full path without quotes, backslashes and control characters"
        )
    return path


def _place(bb: BBDir, request: Request, environ: Dict[str, str]) -> str:
    from pegasus_bb.reservation.registry import open_backend

    backend = open_backend(request.backend, request.settings)
    if request.fallback == "fail":
        return backend.path(request, environ)
    from pegasus_bb.runtime import settled

    found = settled.settled(bb)
    if found and found.to == settled.PFS:
        return found.prefix
    path = backend.path(request, environ)
    # It is there: from now on the run is on it, and no gate sends it elsewhere.
    found = found or settled.settle(bb, settled.Settled(settled.TIER))
    return found.prefix if found.to == settled.PFS else path


def job_links(bb: BBDir, binding: Binding, environ: Dict[str, str]) -> List[Link]:
    """The links of this job; none for most. Raises UsageError."""
    node = environ.get("PEGASUS_DAG_JOB_ID", "")
    if not node or "/" in node:
        if os.path.isdir(bb.file("links")) and os.listdir(bb.file("links")):
            raise UsageError(
                f"PEGASUS_DAG_JOB_ID is {node!r}, so the links of this job are not "
                "known; the submit file must set it in the job's environment"
            )
        return []
    wanted = bb.links(node)
    if not wanted:
        return []
    placement = bb.placement()
    scratch = binding.text(placement["scratch"])
    return list(planned_links(wanted, scratch, placement.get("pfs_scratch", "")))


def wants_stdin(argv: Sequence[str]) -> bool:
    """Whether ``argv`` reads its stdin: a recorder passes it on only with -i -."""
    if os.path.basename(argv[0]) not in ("record", KICKSTART):
        return True
    from pegasus_bb.runtime.records.options import reads_stdin

    return reads_stdin(argv[1:])


def bind_stdin(binding: Binding, environ: Dict[str, str]) -> None:
    """Put the real path into a job list on stdin, line by line.

    Only into a file or a pipe: a terminal or a socket is left alone.
    """
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return
    from pegasus_bb.runtime.records.streams import temporary

    handle, _ = temporary("in", environ)
    with open(0, "rb", closefd=False) as given, open(handle, "wb") as bound:
        for line in given:
            bound.write(binding.line(line))
        bound.flush()
        os.lseek(handle, 0, os.SEEK_SET)
        os.dup2(handle, 0)


def run_command(bb: BBDir, argv: List[str], environ: Dict[str, str]) -> int:
    """Run ``argv``; our own recorder in this process, for it costs no second start."""
    from pegasus_bb.runtime.proc import CannotStart, run

    recorded = is_own_record(bb, argv[0])
    try:
        if recorded or os.path.basename(argv[0]) == KICKSTART:
            argv = with_container(bb, argv, environ)
        if recorded:
            from pegasus_bb.runtime.record import run_recorded

            return run_recorded(argv[1:], environ)
        if os.path.basename(argv[0]) == KICKSTART:
            return run_counted(bb, argv, environ)
        return run(argv[0], argv, environ)
    except CannotStart as error:
        print(f"launch: {error}", file=sys.stderr)
        return error.status


def with_container(bb: BBDir, argv: List[str], environ: Dict[str, str]) -> List[str]:
    """``argv`` of a recorder, its task in a container where it has one."""
    if not os.path.exists(bb.file("containers.json")):
        return argv
    from pegasus_bb.runtime.container import in_container

    return in_container(bb, argv, environ)


def run_counted(bb: BBDir, argv: List[str], environ: Dict[str, str]) -> int:
    """Run Kickstart, and say after its record what the task read and wrote: in a line
    that is a comment to every reader of YAML, and skipped by Pegasus's own."""
    from pegasus_bb.runtime.count import counted
    from pegasus_bb.runtime.proc import run
    from pegasus_bb.runtime.records.streams import named_temporary

    try:
        handle, name = named_temporary("io", environ)
    except OSError:  # the task may do without
        return run(argv[0], argv, environ)
    try:
        argv = counted(argv, bb.file("bin/count"), name)
        status = run(argv[0], argv, environ)
        said = os.read(handle, 4096)
    finally:
        os.close(handle)
        os.unlink(name)
    if said:
        with contextlib.suppress(OSError):
            os.write(1, COUNTERS + said + b"\n")
    return status


def is_own_record(bb: BBDir, program: str) -> bool:
    """Whether ``program`` is bin/record of this very run."""
    try:
        return os.path.samefile(program, bb.file("bin/record"))
    except OSError:
        return False


def bring_strays_home(links: Sequence[Link], status: int) -> int:
    """Move what replaced a link; ``status``, or 1 where a result could not be moved."""
    for link in links:
        try:
            if is_stray(link):
                _tell(bring_home(link)[0])
        except (PegasusBBError, OSError) as error:
            why = error if isinstance(error, PegasusBBError) else error.strerror
            _tell(str(LinkFailed(f"{link.path}: stays on the buffer: {why}")))
            status = status or 1
    return status


def about_unmade(links: Sequence[Link]) -> str:
    """Which links of a task that failed lead to nothing still, and what may help."""
    names = [
        link.lfn
        for link in links
        if link.ours and os.path.islink(link.path) and not os.path.exists(link.path)
    ]
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"{', '.join(names[:_SHOWN])}{more}: not made. Each was a link to the PFS when "
        "the task started, and some programs refuse to write to such a name "
        "(cp, mkdir, ln -s, sh -C). If that is why it failed, let them "
        "live on the buffer: `tier: bb` for them in a placement file"
    )


def _tell(note: str) -> None:
    if note:
        print(f"launch: {note}", file=sys.stderr)
