"""Where the service of Slurm's host and those of the nodes meet, for both of them."""

from __future__ import annotations

import os
import socket
from typing import Any, NamedTuple, Sequence

from pegasus_bb.errors import UsageError
from pegasus_bb.service.slurm.nodes.names import is_name
from pegasus_bb.units import parse_duration

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


def read_nodes(where: str, data: Any) -> NodesConfig:
    """The part ``nodes`` of the part ``slurm``. Raises UsageError."""
    _check_common(where, data, (*_COMMON, "timeout"))
    timeout = parse_duration(data.get("timeout", _PATIENCE))
    _check(timeout > 0, where, "timeout: 240s", data.get("timeout"))
    poll = float(data.get("poll", _POLL))
    return NodesConfig(data["path"], data["mailbox"], timeout, poll)


def read_node(where: str, data: Any) -> NodeConfig:
    """The part ``node`` of a node's configuration. Raises UsageError."""
    _check_common(where, data, (*_COMMON, "name"))
    name = data.get("name", socket.gethostname().partition(".")[0])
    good = isinstance(name, str) and is_name(name)
    _check(good, where, "name: the NodeName of slurm.conf", name)
    poll = float(data.get("poll", _POLL))
    return NodeConfig(data["path"], data["mailbox"], name, poll)


def _check_common(where: str, data: Any, keys: Sequence[str]) -> None:
    _check(isinstance(data, dict), where, "an object", data)
    unknown = sorted(set(data) - set(keys))
    _check(not unknown, where, f"the keys are {', '.join(keys)}", unknown)
    for key in ("path", "mailbox"):
        path = data.get(key)
        good = isinstance(path, str) and os.path.isabs(path)
        good = good and os.path.normpath(path) == path != "/"
        _check(good, where, f"{key}: an absolute path", path)
    poll = data.get("poll", _POLL)
    good = type(poll) in (int, float) and 0 < poll <= 60
    _check(good, where, "poll: seconds, such as 1", poll)


def _check(good: Any, where: str, wanted: str, found: Any) -> None:
    if not good:
        raise UsageError(f"{where}: {wanted}; found {found!r}")
