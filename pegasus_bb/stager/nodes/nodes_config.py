"""Where the service of Slurm's host and those of the nodes meet, for both of them."""

from __future__ import annotations

import socket
from typing import Any, NamedTuple

from pegasus_bb.core.units import parse_duration
from pegasus_bb.stager.config_checks import DISCARD, Section
from pegasus_bb.stager.nodes.names import is_name

SPACE = "node"  # node://PATH in directives, and a dataspace of a node's own service
_COMMON = ("path", "mailbox", "poll")
_PATIENCE = "240s"  # Slurm ends pre_run after OtherTimeout, 300 s by default
_POLL = 1.0


class NodesConfig(NamedTuple):
    """What the service of Slurm's host knows of the nodes."""

    path: str  # of the folder on each node that has those of jobs
    mailbox: str  # a folder that this host and the nodes see
    timeout: int = 240  # seconds that a job waits for the data on its nodes
    poll: float = _POLL  # seconds between two looks for answers


class NodeConfig(NamedTuple):
    """What the service of one node knows."""

    path: str
    mailbox: str
    name: str  # as Slurm has it
    poll: float = _POLL  # seconds between two looks for orders
    discard: float = 0.0  # seconds between two discards of free space; 0: none


def read_nodes(where: str, data: Any) -> NodesConfig:
    """Return the part ``nodes`` of the part ``slurm``. Raises UsageError."""
    part = Section(where, data, (*_COMMON, "timeout"))
    timeout = part.parsed(parse_duration, "timeout", _PATIENCE)
    part.check(timeout > 0, "timeout: 240s", part.get("timeout"))
    path, mailbox, poll = _common(part)
    return NodesConfig(path, mailbox, timeout, poll)


def read_node(where: str, data: Any) -> NodeConfig:
    """Return the part ``node`` of a node's configuration. Raises UsageError."""
    part = Section(where, data, (*_COMMON, "name", DISCARD))
    name = part.get("name", socket.gethostname().partition(".")[0])
    good = isinstance(name, str) and is_name(name)
    part.check(good, "name: the NodeName of slurm.conf", name)
    path, mailbox, poll = _common(part)
    return NodeConfig(path, mailbox, name, poll, part.discard())


def _common(part: Section) -> tuple[str, str, float]:
    """Path, mailbox, poll."""
    path = part.folder("path")
    part.check(path != "/", "path: a folder of its own", path)
    poll = part.get("poll", _POLL)
    good = type(poll) in (int, float) and 0 < poll <= 60
    part.check(good, "poll: seconds, such as 1", poll)
    return path, part.folder("mailbox"), float(poll)
