"""The part ``slurm`` of a site's configuration: who asks, through which folder, and the
pools of fast storage."""

from __future__ import annotations

import pwd
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size
from pegasus_bb.runtime.stager_client.dataspace import parse_rate
from pegasus_bb.stager.config_checks import NAME, check, check_keys, folder, parsed
from pegasus_bb.stager.discard import KEY as DISCARD
from pegasus_bb.stager.discard import parse_discard
from pegasus_bb.stager.nodes.nodes_config import SPACE, NodesConfig, read_nodes

SPOOL = "/var/spool/pegasus-bb"  # where ``spool`` is not said
_KEYS = ("user", "spool", "pools", "nodes")
_POOL_KEYS = ("path", "capacity", "granularity", "per_user", "rate", DISCARD)
_GIB = "1GiB"
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


class SlurmConfig(NamedTuple):
    """Where burst_buffer.lua and the service meet."""

    uid: int  # of SlurmUser, who writes the requests
    spool: str
    pools: tuple[GranulePool, ...]  # the first one is the default
    nodes: NodesConfig | None = None  # None: nothing is staged on nodes


def read_slurm(where: str, data: Any) -> SlurmConfig:
    """The configuration in ``data``; ``where`` is its place for errors.

    Raises UsageError.
    """
    check_keys(where, data, _KEYS)
    spool = folder(where, "spool", data.get("spool", SPOOL))
    pools = data.get("pools")
    wanted = 'pools: {"flash": {"path": "/bb", "capacity": "10TiB"}}'
    check(isinstance(pools, dict) and pools, where, wanted, pools)
    uid = _uid(where, data.get("user", "slurm"))
    found = SlurmConfig(uid, spool, tuple(_pools(where, pools)))
    if "nodes" in data:
        found = found._replace(nodes=read_nodes(f"{where}: nodes", data["nodes"]))
    return found


def _pools(where: str, pools: Any) -> list[GranulePool]:
    found = []
    for name, pool in pools.items():
        here = f"{where}: pool {name}"
        good = NAME.fullmatch(name) and name not in _RESERVED
        check(good, where, "a pool has a lower-case name", name)
        check_keys(here, pool, _POOL_KEYS)
        path = folder(here, "path", pool.get("path"))
        capacity = parsed(parse_size, here, "capacity", pool.get("capacity", ""))
        granule = parsed(parse_size, here, "granularity", pool.get("granularity", _GIB))
        fits = 0 < granule <= capacity
        check(fits, here, "granularity: a size up to the capacity", granule)
        limits = parse_rate(here, pool), parse_discard(here, pool)
        most = parsed(parse_size, here, "per_user", pool.get("per_user", capacity))
        check(most >= granule, here, "per_user: a granule or more", most)
        most = most if most < capacity else 0
        found.append(GranulePool(name, path, capacity, granule, *limits, most))
    return found


def _uid(where: str, user: Any) -> int:
    try:
        return pwd.getpwnam(str(user)).pw_uid
    except (KeyError, ValueError):
        raise UsageError(
            f"{where}: user {user!r} is no user of this host; write the SlurmUser of "
            "slurm.conf"
        ) from None
