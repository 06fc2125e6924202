"""bb/nodes/<node>.json: what a node needs at its start. Most nodes need nothing."""

from __future__ import annotations

import os
from typing import Any, Mapping, NamedTuple

from pegasus_bb.errors import UsageError
from pegasus_bb.runtime.bbdir import NODES, BBDir


class Node(NamedTuple):
    """A node of the DAG and what its job needs."""

    name: str
    links: Mapping[str, str]  # LFN -> path on the PFS
    reservation: Mapping[str, Any]  # of the job alone; empty where it has none


def read_node(bb: BBDir, environ: Mapping[str, str]) -> Node:
    """The node of this job. Raises UsageError where it is not known."""
    name = environ.get("PEGASUS_DAG_JOB_ID", "")
    if name and "/" not in name:
        said = bb.node(name)
        return Node(name, said.get("links", {}), said.get("reservation", {}))
    if os.path.isdir(bb.file(NODES)) and os.listdir(bb.file(NODES)):
        raise UsageError(
            f"PEGASUS_DAG_JOB_ID is {name!r}, so the files of this job are not known; "
            "the submit file must set it in the job's environment"
        )
    return Node("", {}, {})
