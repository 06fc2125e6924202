"""The parts ``slurm`` and ``node`` of a configuration: who asks, through which folder,
the pools of fast storage, and where the services of Slurm's host and of nodes meet."""

from __future__ import annotations

import pwd
import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.stager.config_checks import DISCARD, NAME, Section
from pegasus_bb.stager.nodes.names import is_name

SPACE = "node"  # node://PATH in directives, and a dataspace of a node's own service
_NODE_KEYS = ("path", "mailbox", "poll")
OF_A_NODE = ("name", DISCARD)
_PATIENCE = "240s"  # Slurm ends pre_run after OtherTimeout, 300 s by default
_POLL = 1.0
SPOOL = "/var/spool/pegasus-bb"  # the default
_KEYS = ("user", "spool", "pools", "nodes")
_POOL_KEYS = ("path", "capacity", "granularity", "per_user", "rate", DISCARD)
_RESERVED = ("job", "bb", "file", SPACE)  # what places of directives begin with


class GranulePool(NamedTuple):
    """A folder of fast storage, given out in granules."""

    name: str
    path: str
    capacity: int  # bytes
    granularity: int  # bytes
    rate: float = 0.0  # bytes per second of all copies together; 0: no limit
    discard: float = 0.0  # seconds between two discards of free space; 0: none
    per_user: int = 0  # bytes that one user has at most; 0: no limit


class NodesConfig(NamedTuple):
    """What the service of Slurm's host knows of the nodes, and that of one node."""

    path: str  # of the folder on each node that has those of jobs
    mailbox: str  # a folder that this host and the nodes see
    poll: float = _POLL  # seconds between two looks for letters
    timeout: int = 240  # seconds that a job waits for the data on its nodes
    discard: float = 0.0  # seconds between two discards of free space; 0: none
    name: str = ""  # of the node itself, as Slurm has it


class SlurmConfig(NamedTuple):
    """Where burst_buffer.lua and the service meet."""

    uid: int  # of SlurmUser, who writes the requests
    spool: str
    pools: tuple[GranulePool, ...]  # the first one is the default
    nodes: NodesConfig | None = None  # None: nothing is staged on nodes


def read_slurm(where: str, data: Any) -> SlurmConfig:
    """Return the configuration in ``data``; ``where`` is its place for errors.

    Raises UsageError.
    """
    part = Section(where, data, _KEYS)
    spool = part.folder("spool", SPOOL)
    user = part.get("user", "slurm")
    try:
        uid = pwd.getpwnam(str(user)).pw_uid
    except (KeyError, ValueError):
        why = "is no user of this host; write the SlurmUser of slurm.conf"
        raise UsageError(f"{where}: user {user!r} {why}") from None
    pools = part.get("pools")
    wanted = 'pools: {"flash": {"path": "/bb", "capacity": "10TiB"}}'
    part.check(isinstance(pools, dict) and pools, wanted, pools)
    for name in pools:
        good = NAME.fullmatch(name) and name not in _RESERVED
        part.check(good, "a pool has a lower-case name", name)
    read = tuple(_pool(f"{where}: pool {name}", name, pools[name]) for name in pools)
    nodes = (
        read_nodes(f"{where}: nodes", part.get("nodes")) if "nodes" in part else None
    )
    return SlurmConfig(uid, spool, read, nodes)


def _pool(where: str, name: str, data: Any) -> GranulePool:
    part = Section(where, data, _POOL_KEYS)
    path = part.folder("path")
    capacity = part.parsed(parse_size, "capacity", "")
    granule = part.parsed(parse_size, "granularity", "1GiB")
    part.check(
        0 < granule <= capacity, "granularity: a size up to the capacity", granule
    )
    most = part.parsed(parse_size, "per_user", capacity)
    part.check(most >= granule, "per_user: a granule or more", most)
    most = most if most < capacity else 0
    limits = (part.rate(), part.discard())
    return GranulePool(name, path, capacity, granule, *limits, most)


def read_nodes(where: str, data: Any, own: Sequence[str] = ("timeout",)) -> NodesConfig:
    """Return the part ``nodes`` of the part ``slurm``; with the ``OF_A_NODE`` the part
    ``node`` of a node's configuration. Raises UsageError."""
    part = Section(where, data, (*_NODE_KEYS, *own))
    timeout = part.parsed(parse_duration, "timeout", _PATIENCE)
    part.check(timeout > 0, "timeout: 240s", part.get("timeout"))
    name = ""
    if "name" in own:
        name = part.get("name", socket.gethostname().partition(".")[0])
        good = isinstance(name, str) and is_name(name)
        part.check(good, "name: the NodeName of slurm.conf", name)
    path = part.folder("path")
    part.check(path != "/", "path: a folder of its own", path)
    poll = part.get("poll", _POLL)
    good = type(poll) in (int, float) and 0 < poll <= 60
    part.check(good, "poll: seconds, such as 1", poll)
    mailbox = part.folder("mailbox")
    return NodesConfig(path, mailbox, float(poll), timeout, part.discard(), name)
