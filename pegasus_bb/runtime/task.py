"""Runs a bound task: its stdin, links and recorder, and afterwards its strays."""

from __future__ import annotations

import os
import stat
import sys

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.bbdir import BBDir, NodeNeeds
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.scratch_links import (
    Link,
    LinkFailed,
    checked_path,
    copy_borrowed,
    is_stray,
    make_link,
    move_stray,
    planned_links,
    pool_links,
)
from pegasus_bb.runtime.stream_hints import run_with_hints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KICKSTART = "pegasus-kickstart"
COUNTERS = b"# pegasus_bb io: "  # begins the line that follows a record

_SHOWN = 10  # names in a message; further ones are only counted


def run_task(
    bb: BBDir,
    binding: Binding,
    argv: list[str],
    environ: dict[str, str],
    *,
    links: Sequence[Link],
    hinted: Mapping[str, int] | None = None,
    folders: Sequence[str] = (),
    vanishing: Sequence[str] = (),
) -> int:
    """Run ``argv``, which has real paths; returns its exit status. ``hinted``: outputs
    to create before (path -> hint). ``folders``: others where its files are.
    ``vanishing``: those that will be gone, so links into them must not stay."""
    seen = os.pathsep.join((*binding.folders(), *folders))
    environ = {**environ, "PEGASUS_BB_FOLDERS": seen}
    if wants_stdin(argv):
        bind_stdin(binding, environ)
    for link in links:
        tell(make_link(link))
    status = run_with_hints(hinted, lambda: run_command(bb, argv, environ))
    if status:
        from pegasus_bb.runtime.absent_notes import note_absent

        tell(unmade_message(links))
        note_absent(bb, binding, environ.get("PEGASUS_DAG_JOB_ID", ""))
    return move_strays(links, status, vanishing)


def task_files(
    bb: BBDir, node: NodeNeeds, binding: Binding, shared: str = ""
) -> tuple[list[Link], Mapping[str, int]]:
    """The links of the task, and the outputs to create before it (path -> hint).
    ``shared``: the workflow directory, of a task in a private folder."""
    if not (node.links or node.pools or node.hints):
        return [], {}
    placement = bb.placement()
    here = binding.text(placement["scratch"])
    on_pfs = placement["pfs_scratch"]
    if (shared or here) == on_pfs:  # the run has fallen back to the PFS
        return [] if shared else list(planned_links(node.links, here, on_pfs)), {}
    links = list(planned_links(node.links, here, on_pfs))
    links += pool_links(node.pools, here, placement.get("pools", {}))
    paths = ((checked_path(here, lfn), hint) for lfn, hint in node.hints.items())
    return links, dict(paths)


def wants_stdin(argv: Sequence[str]) -> bool:
    """Whether ``argv`` reads its stdin: a recorder passes it on only with -i -."""
    if os.path.basename(argv[0]) not in ("record", KICKSTART):
        return True
    from pegasus_bb.runtime.records.kickstart_options import reads_stdin

    return reads_stdin(argv[1:])


def bind_stdin(binding: Binding, environ: dict[str, str]) -> None:
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


def run_command(bb: BBDir, argv: list[str], environ: dict[str, str]) -> int:
    """Run ``argv``; our own recorder, and what runs the tasks of a cluster, run in this
    process, which saves a start."""
    from pegasus_bb.runtime.proc import ProgramNotStarted, run

    name = os.path.basename(argv[0])
    recorded = _is_own(bb, argv[0], "record")
    if name == "cluster" and _is_own(bb, argv[0], "cluster"):
        from pegasus_bb.runtime.programs.cluster import run_list

        return run_list(argv[1:], environ)
    try:
        if recorded or name == KICKSTART:
            argv = with_container(bb, argv, environ)
        if recorded:
            from pegasus_bb.runtime.programs.record import run_recorded

            return run_recorded(argv[1:], environ)
        if name == KICKSTART:
            return run_counted(bb, argv, environ)
        return run(argv[0], argv, environ)
    except ProgramNotStarted as error:
        tell(str(error))
        return error.status


def with_container(bb: BBDir, argv: list[str], environ: dict[str, str]) -> list[str]:
    """``argv`` of a recorder, with its task in a container if it has one."""
    if not os.path.exists(bb.file("containers.json")):
        return argv
    from pegasus_bb.runtime.container import in_container

    return in_container(bb, argv, environ)


def run_counted(bb: BBDir, argv: list[str], environ: dict[str, str]) -> int:
    """Run Kickstart, and add the task's I/O counters to its record, in a line that is a
    comment in YAML and that Pegasus skips."""
    from pegasus_bb.runtime.proc import run
    from pegasus_bb.runtime.programs.count import with_counter
    from pegasus_bb.runtime.records.streams import named_temporary

    try:
        handle, name = named_temporary("io", environ)
    except OSError:  # the task may do without
        return run(argv[0], argv, environ)
    try:
        argv = with_counter(argv, bb.file("bin/count"), name)
        status = run(argv[0], argv, environ)
        counters = os.read(handle, 4096)
    finally:
        os.close(handle)
        os.unlink(name)
    if counters:
        try:
            os.write(1, COUNTERS + counters + b"\n")
        except OSError:  # of the job: its record has failed as well
            pass
    return status


def _is_own(bb: BBDir, program: str, name: str) -> bool:
    ours = bb.file(f"bin/{name}")
    try:
        return program == ours or os.path.samefile(program, ours)
    except OSError:
        return False


def move_strays(links: Sequence[Link], status: int, vanishing: Sequence[str]) -> int:
    """Move files that replaced links; returns ``status``, or 1 if a move failed."""
    for link in links:
        try:
            if is_stray(link):
                tell(move_stray(link, vanishing)[0])
        except (PegasusBBError, OSError) as error:
            why = error if isinstance(error, PegasusBBError) else error.strerror
            tell(str(LinkFailed(f"{link.path}: stays on the buffer: {why}")))
            status = status or 1
    return status


def keep_outputs(
    bb: BBDir, node: NodeNeeds, binding: Binding, links: Sequence[Link]
) -> int:
    """Give outputs that a task has made links to files on the PFS, as by renaming its
    input, bytes of their own; returns the exit status."""
    status = 0
    for lfn, planned in node.outputs.items():
        path = binding.text(planned)
        if not os.path.islink(path):
            continue
        home = next((link.target for link in links if link.lfn == lfn), path)
        try:
            copy_borrowed(path, home, bb.placement()["pfs_scratch"])
        except (PegasusBBError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            tell(f"{lfn}: a clean-up may take what this link leads to: {why}")
            status = 1
    return status


def unmade_message(links: Sequence[Link]) -> str:
    """A message about broken links of a failed task; empty if there are none."""
    names = [
        link.lfn
        for link in links
        if link.ours and os.path.islink(link.path) and not os.path.exists(link.path)
    ]
    if not names:
        return ""
    from pegasus_bb.core.units import abbreviate

    return (
        f"{abbreviate(names, _SHOWN)}: not made. Each was a link to the PFS or a "
        "pool when the task started, and some programs refuse to write to such a name "
        "(cp, mkdir, ln -s, sh -C). If that is why it failed, let them "
        "live on the buffer: `tier: bb` for them in a placement file"
    )


def missing_message(names: Sequence[str]) -> str:
    """A message about outputs that a task which ended well has not made; empty if there
    are none."""
    if not names:
        return ""
    from pegasus_bb.core.units import abbreviate

    return (
        f"{abbreviate(names, _SHOWN)}: the task ended well, but has not made what the "
        "workflow says it makes"
    )


def discard(path: str) -> None:
    """Remove a job's folder, whose files are safe or lost.

    A folder that stays costs space only, so it is reported and does not fail the job.
    """
    from pegasus_bb.core.removal import remove

    try:
        remove(path)
    except (PegasusBBError, OSError) as error:
        tell(f"{path} was not removed: {error}")


def tell(note: str) -> None:
    if note:
        print(f"launch: {note}", file=sys.stderr)
