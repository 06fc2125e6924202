"""Where the service of Slurm's host and those of the nodes meet, for both of them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

from pegasus_bb.core.units import parse_duration
from pegasus_bb.stager.config_checks import check, check_keys, folder, parsed
from pegasus_bb.stager.discard import KEY as DISCARD
from pegasus_bb.stager.discard import parse_discard
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
    """The part ``nodes`` of the part ``slurm``. Raises UsageError."""
    path, mailbox, poll = _common(where, data, (*_COMMON, "timeout"))
    patience = data.get("timeout", _PATIENCE)
    timeout = parsed(parse_duration, where, "timeout", patience)
    check(timeout > 0, where, "timeout: 240s", patience)
    return NodesConfig(path, mailbox, timeout, poll)


def read_node(where: str, data: Any) -> NodeConfig:
    """The part ``node`` of a node's configuration. Raises UsageError."""
    path, mailbox, poll = _common(where, data, (*_COMMON, "name", DISCARD))
    name = data.get("name", socket.gethostname().partition(".")[0])
    good = isinstance(name, str) and is_name(name)
    check(good, where, "name: the NodeName of slurm.conf", name)
    return NodeConfig(path, mailbox, name, poll, parse_discard(where, data))


def _common(where: str, data: Any, keys: Sequence[str]) -> tuple[str, str, float]:
    """Path, mailbox, poll."""
    check_keys(where, data, keys)
    path, mailbox = (folder(where, key, data.get(key)) for key in ("path", "mailbox"))
    check(path != "/", where, "path: a folder of its own", path)
    poll = data.get("poll", _POLL)
    good = type(poll) in (int, float) and 0 < poll <= 60
    check(good, where, "poll: seconds, such as 1", poll)
    return path, mailbox, float(poll)
