"""The part ``slurm`` of a site's configuration: who asks, through which folder, and the
pools of fast storage."""

from __future__ import annotations

import os
import pwd
import re
from typing import Any, List, NamedTuple, Optional, Tuple

from pegasus_bb.errors import UsageError
from pegasus_bb.service.dataspace import parse_rate
from pegasus_bb.service.slurm.nodes.config import SPACE, NodesConfig, read_nodes
from pegasus_bb.units import parse_size

_KEYS = ("user", "spool", "pools", "nodes")
_POOL_KEYS = ("path", "capacity", "granularity", "rate")
_NAME = re.compile("[a-z][a-z0-9_-]{0,31}")
_RESERVED = ("job", "bb", "file", SPACE)  # what places of directives begin with


class Pool(NamedTuple):
    """A folder of fast storage, given out in granules."""

    name: str
    path: str
    capacity: int  # bytes
    granularity: int  # bytes
    rate: float = 0.0  # bytes per second of all copies together; 0: no limit


class SlurmConfig(NamedTuple):
    """Where burst_buffer.lua and the service meet."""

    uid: int  # of SlurmUser, who writes the requests
    spool: str
    pools: Tuple[Pool, ...]  # the first one is the default
    nodes: Optional[NodesConfig] = None  # None: nothing is staged on nodes


def read_slurm(where: str, data: Any) -> SlurmConfig:
    """The configuration in ``data``; ``where`` is its place for errors.

    Raises UsageError.
    """
    _check(isinstance(data, dict), where, "an object", data)
    unknown = sorted(set(data) - set(_KEYS))
    _check(not unknown, where, f"the keys are {', '.join(_KEYS)}", unknown)
    spool = data.get("spool", "/var/spool/pegasus-bb")
    _check(_is_path(spool), where, "spool: an absolute path", spool)
    pools = data.get("pools")
    wanted = 'pools: {"flash": {"path": "/bb", "capacity": "10TiB"}}'
    _check(isinstance(pools, dict) and pools, where, wanted, pools)
    uid = _uid(where, data.get("user", "slurm"))
    found = SlurmConfig(uid, spool, tuple(_pools(where, pools)))
    if "nodes" in data:
        found = found._replace(nodes=read_nodes(f"{where}: nodes", data["nodes"]))
    return found


def _pools(where: str, pools: Any) -> List[Pool]:
    found = []
    for name, pool in pools.items():
        here = f"{where}: pool {name}"
        good = _NAME.fullmatch(name) and name not in _RESERVED
        _check(good, where, "a pool has a lower-case name", name)
        _check(isinstance(pool, dict), here, "an object", pool)
        unknown = sorted(set(pool) - set(_POOL_KEYS))
        _check(not unknown, here, f"the keys are {', '.join(_POOL_KEYS)}", unknown)
        path = pool.get("path")
        _check(_is_path(path), here, "path: an absolute path", path)
        capacity = parse_size(pool.get("capacity", ""))
        granule = parse_size(pool.get("granularity", "1GiB"))
        fits = 0 < granule <= capacity
        _check(fits, here, "a granularity below the capacity", granule)
        found.append(Pool(name, path, capacity, granule, parse_rate(here, pool)))
    return found


def _uid(where: str, user: Any) -> int:
    try:
        return pwd.getpwnam(str(user)).pw_uid
    except KeyError:
        raise UsageError(
            f"{where}: user {user!r} is no user of this host; write the SlurmUser of "
            "slurm.conf"
        ) from None


def _is_path(value: Any) -> bool:
    return (
        isinstance(value, str)
        and os.path.isabs(value)
        and os.path.normpath(value) == value
    )


def _check(good: Any, where: str, wanted: str, found: Any) -> None:
    if not good:
        raise UsageError(f"{where}: {wanted}; found {found!r}")
