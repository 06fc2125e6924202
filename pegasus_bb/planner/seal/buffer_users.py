"""Which nodes of a planned submit directory need the reservation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from pegasus_bb.dag.nodefiles import list_text, submit_text
from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal.view import View


def buffer_users_in_doubt(
    dag: Dag, submit_dir: Path, request: Request, gate: str
) -> set[str]:
    """``buffer_users``, asked only of the few nodes for which it decides anything.

    Behind the gate, and not after bb_delete, every node may use the buffer.
    """
    view = View(dag, set(), request.site, gate)
    doubtful = dag.nodes.keys() - view.behind_gate | view.after_delete
    doubtful |= {*view.setups, *view.deletes}
    few = {name: node for name, node in dag.nodes.items() if name in doubtful}
    return buffer_users(replace(dag, nodes=few), submit_dir, request)


def buffer_users(dag: Dag, submit_dir: Path, request: Request) -> set[str]:
    """Nodes that run on the tier's site, name the planned prefix, or run a workflow.

    Read from each node's submit file, job list, VARS and scripts, of either planner.
    Raises CatalogError where one cannot be read.
    """
    # On site local bb_setup and bb_delete have that attribute as well; there the
    # prefix alone tells, and every job in scratch names it.
    site = "(?!)" if request.site == "local" else re.escape(request.site)
    prefix = re.escape(request.prefix)
    sign = re.compile(
        rf'^\+pegasus_site\s*=\s*"{site}"|{prefix}(?![A-Za-z0-9_.-])|'
        r"^\+pegasus_job_class\s*=\s*1[01]\s*$",  # a workflow inside: who knows
        re.MULTILINE | re.IGNORECASE,
    )
    # Most nodes name the prefix, and looking for that alone is much faster.
    plain = re.compile(rf"{prefix}(?![A-Za-z0-9_.-])")

    def touches(node: Node) -> bool:
        if node.kind == "SUBDAG":
            return True
        text = submit_text(submit_dir, node) + _said_in_the_dag(node)
        if plain.search(text) or sign.search(text):
            return True
        return sign.search(list_text(submit_dir, node)) is not None

    return {node.name for node in dag.nodes.values() if touches(node)}


def _said_in_the_dag(node: Node) -> str:
    """VARS, which submit files use as macros, and scripts."""
    scripts = [s for s in (node.pre, node.post) if s is not None]
    words = [*node.vars.values(), *(f"{s.executable} {s.arguments}" for s in scripts)]
    return "".join(f"\n{word}" for word in words)
