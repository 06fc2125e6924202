"""Jobs that must not start in the folder on the buffer start where create_dir does."""

from __future__ import annotations

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.dag.roles import Role, folder_nodes, of_role
from pegasus_bb.planner.pegasus.folder import replace_text
from pegasus_bb.planner.pegasus.outcome import Outcome

OUTSIDE_SCRATCH = "/tmp"  # noqa: S108 - where pegasus-plan lets create_dir start
# Of style condor, of style glite.
_STARTS_IN = (("\nremote_initialdir = ", "\n"), ('\n+remote_iwd = "', '"\n'))


def start_outside(outcome: Outcome, dag: Dag, site: str, scratch: str) -> None:
    """The leaf cleanup of ``site``, and clusters.

    The cleanup's Kickstart would change to the folder that it removes, and a retry
    after a kill would find none. For a cluster HTCondor itself, or blahp, would change
    to the planned prefix, which is nowhere; each of its tasks has a Kickstart that
    changes.
    """
    for name in folder_nodes(dag.nodes, Role.LEAF_CLEANUP, site):
        place = f" -w {scratch} ", f" -w {OUTSIDE_SCRATCH} "
        _replace(outcome, dag.nodes[name], *place)
    for name in of_role(dag.nodes, Role.CLUSTER):
        for begins, ends in _STARTS_IN:
            old, new = (f"{begins}{at}{ends}" for at in (scratch, OUTSIDE_SCRATCH))
            _replace(outcome, dag.nodes[name], old, new)


def _replace(outcome: Outcome, node: Node, old: str, new: str) -> None:
    file = outcome.folder / node.directory / node.submit_file
    text = file.read_bytes()
    changed = text.replace(old.encode(), new.encode())
    if changed != text:
        replace_text(file, changed)
