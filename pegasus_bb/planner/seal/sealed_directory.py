"""Checks the seal of a submit directory before each run."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import CatalogError, NotSealed
from pegasus_bb.core.files import read_json
from pegasus_bb.model.dag.joblists import job_lists
from pegasus_bb.model.dag.nodes import Dag, Node, list_text, submit_text
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal.job_reservation_rules import check_job_reservations
from pegasus_bb.planner.seal.lives import PHASES, removals
from pegasus_bb.planner.seal.sealing import check
from pegasus_bb.planner.seal.view import BUILT_IN, View
from pegasus_bb.runtime.bbdir import VERSION, BBDir


def check_directory(submit_dir: Path, dag: Dag) -> None:
    """Check that ``dag`` of ``submit_dir``, which the user may have edited, is sealed.

    Reads the job lists of stage-outs and clean-ups, and the submit files of the few
    nodes whose use of the buffer is in doubt. A run without a reservation passes.
    Raises NotSealed, CatalogError and UsageError.
    """
    bb = BBDir(str(submit_dir / "bb"))
    plan = _read_plan(bb)
    if bb.is_transient:
        check_job_reservations(dag, submit_dir)
    if not bb.has_request:
        return
    request = bb.request()
    gate = _gate(dag, request.site, Path(bb.file("bin/gate")))
    users = buffer_users_in_doubt(dag, submit_dir, request, gate)
    removes = removals(dag.nodes, job_lists(dag, submit_dir))
    is_builtin = plan["planner"] == BUILT_IN
    check(View(dag, users, request.site, gate, removes, is_builtin))
    if os.path.lexists(bb.file(PHASES)):
        _check_phases(dag, bb.file(PHASES))


def _check_phases(dag: Dag, file: str) -> None:
    from pegasus_bb.planner.seal.live_bytes import check_phases  # few runs have them
    from pegasus_bb.planner.seal.phases import read_phases

    check_phases(dag, read_phases(file))


def _read_plan(bb: BBDir) -> dict[str, Any]:
    """plan.json; empty if there is none. Raises CatalogError, and NotSealed if another
    version of pegasus-bb planned the run: its programs read other files."""
    file = bb.file("plan.json")
    if not bb.has_request and not Path(file).exists():
        return {}
    try:
        plan: dict[str, Any] = read_json(file)
        plan["planner"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CatalogError(
            f"does not say who planned this run ({error!r})",
            file,
            would_do="plan again",
        ) from error
    version = plan.get("version")
    if version != VERSION:
        raise NotSealed(
            f"{file}: another version of pegasus-bb planned this run (its files have "
            f"version {version}, this pegasus-bb reads {VERSION}); end the run with "
            "that version, or plan again"
        )
    return plan


def _gate(dag: Dag, site: str, own: Path) -> str:
    """The gate's program as the DAG spells it, which may name the submit directory
    through a link; ``own`` if the DAG has another program there."""
    for name in View(dag, set(), site, "").gated:
        pre = dag.nodes[name].pre
        if pre is not None and Path(pre.executable).resolve() == own.resolve():
            return pre.executable
    return str(own)


def buffer_users_in_doubt(
    dag: Dag, submit_dir: Path, request: Request, gate: str
) -> set[str]:
    """``buffer_users`` of the few nodes for which it decides anything.

    A node behind the gate and not after bb_delete may use the buffer in any case.
    """
    view = View(dag, set(), request.site, gate)
    doubtful = dag.nodes.keys() - view.behind_gate | view.after_delete
    doubtful |= {*view.setups, *view.deletes}
    few = {name: node for name, node in dag.nodes.items() if name in doubtful}
    return buffer_users(replace(dag, nodes=few), submit_dir, request)


def buffer_users(dag: Dag, submit_dir: Path, request: Request) -> set[str]:
    """Nodes that run on the tier's site, name the planned prefix, or run a workflow.

    Reads each node's submit file, job list, VARS and scripts, from either planner.
    Raises CatalogError if one cannot be read.
    """
    # On site local bb_setup and bb_delete have that attribute as well; there only the
    # prefix decides, which every job in scratch names.
    site = "(?!)" if request.site == "local" else re.escape(request.site)
    prefix = re.escape(request.prefix)
    sign = re.compile(
        rf'^\+pegasus_site\s*=\s*"{site}"|{prefix}(?![A-Za-z0-9_.-])|'
        r"^\+pegasus_job_class\s*=\s*1[01]\s*$",  # a sub-workflow may use it
        re.MULTILINE | re.IGNORECASE,
    )
    # Most nodes name the prefix, and looking for that alone is much faster.
    plain = re.compile(rf"{prefix}(?![A-Za-z0-9_.-])")

    def uses_buffer(node: Node) -> bool:
        if node.kind == "SUBDAG":
            return True
        text = submit_text(submit_dir, node) + _dag_text(node)
        if plain.search(text) or sign.search(text):
            return True
        return sign.search(list_text(submit_dir, node)) is not None

    return {node.name for node in dag.nodes.values() if uses_buffer(node)}


def _dag_text(node: Node) -> str:
    """The VARS of ``node``, which submit files use as macros, and its scripts."""
    scripts = [s for s in (node.pre, node.post) if s is not None]
    values = [*node.vars.values(), *(f"{s.executable} {s.arguments}" for s in scripts)]
    return "".join(f"\n{value}" for value in values)
