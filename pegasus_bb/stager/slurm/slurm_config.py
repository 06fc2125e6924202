"""The parts ``slurm`` and ``node`` of a configuration: who asks, through which folder,
the pools of fast storage, and where the services of Slurm's host and of nodes meet."""

from __future__ import annotations

import pwd
import socket
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_duration, parse_size
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, Dataspaces
from pegasus_bb.stager.config_checks import Section
from pegasus_bb.stager.nodes.hostlist import is_name

SPACE = "node"  # node://PATH in directives, and a dataspace of a node's own service
_PATIENCE = "240s"  # Slurm ends pre_run after OtherTimeout, 300 s by default
_POLL = 1.0
SPOOL = "/var/spool/pegasus-bb"  # the default
SLURM_KEYS = ("user", "spool", "pools", "nodes")
_POOL_KEYS = ("path", "capacity", "granularity", "per_user", "rate", "discard")
_POOLS = '{"flash": {"path": "/bb", "capacity": "10TiB"}}'
_RESERVED = ("job", "bb", "file", SPACE)  # what places of directives begin with
_NODES_KEYS = ("path", "mailbox", "poll", "timeout")
NODE_KEYS = ("path", "mailbox", "poll", "name", "discard")


class GranulePool(NamedTuple):
    """A folder of fast storage, given out in granules."""

    name: str
    path: str
    capacity: int  # bytes
    granularity: int  # bytes
    per_user: int = 0  # bytes that one user has at most; 0: no limit


class NodesConfig(NamedTuple):
    """What the service of Slurm's host knows of the nodes, and that of one node."""

    path: str  # of the folder on each node that has those of jobs
    mailbox: str  # a folder that this host and the nodes see
    poll: float = _POLL  # seconds between two looks for letters
    timeout: int = 240  # seconds that a job waits for the data on its nodes
    name: str = ""  # of the node itself, as Slurm has it


class SlurmConfig(NamedTuple):
    """Where burst_buffer.lua and the service meet."""

    uid: int  # of SlurmUser, who writes the requests
    spool: str
    pools: tuple[GranulePool, ...]  # the first one is the default
    nodes: NodesConfig | None = None  # None: nothing is staged on nodes


def read_slurm(part: Section) -> tuple[SlurmConfig, Dataspaces]:
    """Return what the part ``slurm`` says; each pool is a dataspace, too.

    Raises UsageError.
    """
    spool = part.folder("spool", SPOOL)
    user = part.get("user", "slurm")
    try:
        uid = pwd.getpwnam(str(user)).pw_uid
    except (KeyError, ValueError):
        why = "is no user of this host; write the SlurmUser of slurm.conf"
        raise UsageError(f"{part.where}: user {user!r} {why}") from None
    parts = part.named("pool", _POOL_KEYS, _POOLS, _RESERVED)
    spaces = {name: each.dataspace(name) for name, each in parts.items()}
    pools = tuple(_pool(parts[name], space) for name, space in spaces.items())
    has_nodes = "nodes" in part
    nodes = read_nodes(part.part("nodes", _NODES_KEYS)) if has_nodes else None
    return SlurmConfig(uid, spool, pools, nodes), spaces


def _pool(part: Section, space: Dataspace) -> GranulePool:
    capacity = part.parsed(parse_size, "capacity", "")
    granule = part.parsed(parse_size, "granularity", "1GiB")
    good = 0 < granule <= capacity
    part.check(good, "granularity: a size up to the capacity", granule)
    most = part.parsed(parse_size, "per_user", capacity)
    part.check(most >= granule, "per_user: a granule or more", most)
    per_user = most if most < capacity else 0
    return GranulePool(space.name, space.root, capacity, granule, per_user)


def read_nodes(part: Section) -> NodesConfig:
    """Return the part ``nodes`` of the part ``slurm``, or the part ``node`` of a node's
    configuration. Raises UsageError."""
    timeout = part.parsed(parse_duration, "timeout", _PATIENCE)
    part.check(timeout > 0, "timeout: 240s", part.get("timeout"))
    name = part.get("name", socket.gethostname().partition(".")[0])
    good = isinstance(name, str) and is_name(name)
    part.check(good, "name: the NodeName of slurm.conf", name)
    path = part.folder("path")
    part.check(path != "/", "path: a folder of its own", path)
    poll = part.get("poll", _POLL)
    good = type(poll) in (int, float) and 0 < poll <= 60
    part.check(good, "poll: seconds, such as 1", poll)
    return NodesConfig(path, part.folder("mailbox"), float(poll), timeout, name)
