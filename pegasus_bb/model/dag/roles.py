"""The role of a node in a DAG, derived from its name.

Pegasus and the built-in planner name their own nodes alike; a task's node is called
<name of the job>_<id>. No other module makes or interprets such names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from hashlib import blake2b


class Role(Enum):
    """Why a node is in the DAG."""

    BB_SETUP = "bb_setup"  # asks for the reservation
    BB_DELETE = "bb_delete"  # gives it back
    CREATE_DIR = "create_dir"  # makes the run's folder on a site
    STAGE_IN = "stage_in"
    STAGE_INTER = "stage_inter"  # between two sites
    STAGE_WORKER = "stage_worker"  # brings Pegasus's own programs
    STAGE_OUT = "stage_out"
    CLEAN_UP = "clean_up"  # removes single files
    LEAF_CLEANUP = "cleanup"  # removes the run's folder
    REGISTRATION = "register"  # writes to a replica catalog
    SUB_WORKFLOW = "pegasus-plan"  # plans a workflow inside this one
    CLUSTER = "merge"  # several tasks, one after the other
    TASK = ""


RESERVATION = (Role.BB_SETUP, Role.BB_DELETE)
CLEANUPS = (Role.CLEAN_UP, Role.LEAF_CLEANUP)
TRANSFERS = (Role.STAGE_IN, Role.STAGE_INTER, Role.STAGE_WORKER, Role.STAGE_OUT)

_NAMES = "|".join(re.escape(role.value) for role in Role if role.value)
_NODE = re.compile(rf"({_NAMES})_.")
# DAGMan reserves . + and =.
_NOT_IN_NODE_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def node_word(text: str) -> str:
    """Return ``text`` as a part of a node's name, with _ for other characters."""
    return _NOT_IN_NODE_NAMES.sub("_", text)


def id_in_names(ident: str) -> str:
    """Return a job's id as a part of the names of files and nodes. A digest keeps two
    ids apart that differ in letters outside of ASCII."""
    if ident.isascii():
        return ident
    return f"{node_word(ident)}_{blake2b(ident.encode(), digest_size=4).hexdigest()}"


def node_of_task(name: str, ident: str) -> str:
    """Return the name of the node of the job ``ident`` that is called ``name``."""
    return node_word(f"{name}_{id_in_names(ident)}")


def role_of(node: str) -> Role:
    match = _NODE.match(node)
    return Role(match[1]) if match else Role.TASK


def of_role(nodes: Iterable[str], *roles: Role) -> list[str]:
    return [name for name in nodes if role_of(name) in roles]


def folder_nodes(nodes: Iterable[str], role: Role, site: str) -> list[str]:
    """The nodes that make or remove the run's folder on ``site``:
    ``<role>_<workflow>_<number>_<site>``."""
    names = site, site.replace(".", "_"), node_word(site)
    either = "|".join(map(re.escape, names))
    form = re.compile(rf"{role.value}_.+_[0-9]+_(?:{either})")
    return [name for name in of_role(nodes, role) if form.fullmatch(name)]


def is_local_cleanup(node: str) -> bool:
    """Whether it removes the folder that pegasus-plan makes on the submit host."""
    return bool(folder_nodes([node], Role.LEAF_CLEANUP, "local"))
