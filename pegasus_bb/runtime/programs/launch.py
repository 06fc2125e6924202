"""Starts a job of the site on the burst buffer: `launch ARGV...`.

It replaces the planned prefix by this job's real path in ARGV, environment and stdin,
makes the links of the placement, runs ARGV, and moves a file that replaced a link to
the target of the link. The exit status is ARGV's, or 76 if the reservation is not
there: nothing is ever written to the current folder by mistake.
"""

from __future__ import annotations

import os
import sys

from pegasus_bb.core.errors import BUG, PegasusBBError, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.model.backends import JOB_SPACES
from pegasus_bb.runtime.bbdir import BBDir, NodeNeeds
from pegasus_bb.runtime.bind import shared_binding
from pegasus_bb.runtime.node_lock import lock_node
from pegasus_bb.runtime.task import keep_outputs, run_command, run_task, task_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Of a shell without one. HTCondor gives a job none, and PegasusLite, which makes
# Pegasus's private folders, is a shell.
_SHELLS_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main(argv: Sequence[str] | None = None) -> int:
    """``launch ARGV...``: the exit status of ARGV, or our own if it did not run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return launch(BBDir.of_this_program(), arguments, dict(os.environ))
    except PegasusBBError as error:
        print(f"launch: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:  # such as a full disk under bb/running
        where = f"{error.filename}: " if error.filename else ""
        print(f"launch: {where}{error.strerror}", file=sys.stderr)
        return BUG


def launch(bb: BBDir, argv: list[str], environ: dict[str, str]) -> int:
    """Run ``argv`` as a job of the run of ``bb``; returns its exit status.

    Raises ReservationFailed, UsageError, LinkFailed before anything was started.
    """
    if not argv:
        raise UsageError("launch has nothing to start; next: launch PROGRAM [ARG...]")
    node = bb.node_of_job(environ)
    if node.private or node.reservation:
        environ.setdefault("PATH", _SHELLS_PATH)
    if node.reservation:
        from pegasus_bb.runtime.job_reservation.open_reservation import (
            run_on_reservation,
        )

        return run_on_reservation(bb, node, argv, environ)
    if any(name in environ for name in JOB_SPACES):
        from pegasus_bb.runtime.job_reservation.mounted import refuse_space_of_another

        refuse_space_of_another(bb, environ)
    binding = shared_binding(bb, environ)
    if node.private and not _is_of_sub_workflow(node, environ):
        from pegasus_bb.runtime.private_folder import run_in_private_folder

        return run_in_private_folder(bb, node, binding, argv, environ)
    if binding is None:
        lock_node(bb, environ)
        return run_command(bb, argv, environ)
    argv = binding.argv(argv)
    environ = binding.environ(environ)
    links, hinted = task_files(bb, node, binding)
    lock_node(bb, environ)
    status = run_task(bb, binding, argv, environ, links=links, hinted=hinted)
    if node.outputs and not status:
        return keep_outputs(bb, node, binding, links)
    return status


def _is_of_sub_workflow(node: NodeNeeds, environ: Mapping[str, str]) -> bool:
    """Whether the job is one of a sub-workflow, which may use a node's name again: its
    workflow directory is below that of ``node``."""
    outer = str(node.private.get("scratch", "")).rstrip("/") + "/"
    return environ.get("PEGASUS_SCRATCH_DIR", "").startswith(outer)
