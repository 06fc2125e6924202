"""A submit directory as it stands, looked at before each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.dag.joblists import job_lists
from pegasus_bb.dag.nodes import Dag
from pegasus_bb.errors import CatalogError, NotSealed
from pegasus_bb.files import read_json
from pegasus_bb.planner.seal.buffer_users import buffer_users_in_doubt
from pegasus_bb.planner.seal.lives import removals
from pegasus_bb.planner.seal.periods import check_phases
from pegasus_bb.planner.seal.phasesfile import PHASES, read_phases
from pegasus_bb.planner.seal.rooms import check_rooms
from pegasus_bb.planner.seal.sealing import check
from pegasus_bb.planner.seal.view import View
from pegasus_bb.runtime.bbdir import VERSION, BBDir

BUILT_IN = "pegasus-bb built-in"  # planner in plan.json


def check_directory(submit_dir: Path, dag: Dag) -> None:
    """Whether ``dag``, which stands in ``submit_dir``, edited or not, is sealed.

    Reads the job lists of stage-outs and clean-ups, and the submit files of
    the few nodes for which it matters whether they need the buffer. Nothing to check
    where the run has no reservation. Raises NotSealed, CatalogError and UsageError.
    """
    bb = BBDir(str(submit_dir / "bb"))
    _check_version(submit_dir)
    if bb.is_transient:
        check_rooms(dag, submit_dir)
    if not bb.has_request:
        return
    request, plan = bb.request(), _plan(submit_dir)
    gate = _gate(dag, request.site, Path(bb.file("bin/gate")))
    users = buffer_users_in_doubt(dag, submit_dir, request, gate)
    removes = removals(dag.nodes, job_lists(dag, submit_dir))
    ours = plan["planner"] == BUILT_IN
    check(View(dag, users, request.site, gate, removes, ours))
    phases = read_phases(bb.file(PHASES))
    if phases is not None:
        check_phases(dag, phases)


def _check_version(submit_dir: Path) -> None:
    """Raises NotSealed where another version of us planned the run: its own programs
    read other files than this version does."""
    file = submit_dir / "bb" / "plan.json"
    version = _plan(submit_dir).get("version") if file.exists() else VERSION
    if version != VERSION:
        raise NotSealed(
            f"{file}: another version of pegasus-bb planned this run (its files have "
            f"version {version}, this pegasus-bb reads {VERSION}); end the run with "
            "that version, or plan again"
        )


def _plan(submit_dir: Path) -> dict[str, Any]:
    file = submit_dir / "bb" / "plan.json"
    try:
        plan: dict[str, Any] = read_json(str(file))
        plan["planner"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CatalogError(
            f"does not say who planned this run ({error!r})",
            str(file),
            would_do="plan again",
        ) from error
    return plan


def _gate(dag: Dag, site: str, own: Path) -> str:
    """The gate's program as the DAG spells it, where that is this run's own: the
    submit directory may be reached by way of a link."""
    for name in View(dag, set(), site, "").gated:
        pre = dag.nodes[name].pre
        if pre is not None and Path(pre.executable).resolve() == own.resolve():
            return pre.executable
    return str(own)
