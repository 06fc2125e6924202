"""Where a service lives and which dataspaces it has."""

from __future__ import annotations

import os
import socket
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, Dataspaces
from pegasus_bb.stager.config_checks import DISCARD, NAME, Section, check_apart
from pegasus_bb.stager.slurm.slurm_config import (
    OF_A_NODE,
    SPACE,
    NodesConfig,
    SlurmConfig,
    read_nodes,
    read_slurm,
)

_KEYS = ("dataspaces", "state", "sockets", "workers", "slurm", "node")
_SPACE_KEYS = ("path", "target", "rate", DISCARD)
_WORKERS = 2


class Config(NamedTuple):
    """One service."""

    state: str  # folder of the database and of the users' own files
    sockets: str  # folder of both sockets
    spaces: Dataspaces
    workers: int = _WORKERS  # processes that copy at the same time
    is_site: bool = False  # for every user of the host
    control_users: tuple[int, ...] = (0,)  # may use `control`
    idle: float = 60.0  # seconds without work after which a user's service ends
    slurm: SlurmConfig | None = None
    node: NodesConfig | None = None  # of a compute node
    # Where its folders are named, for the words of errors.
    named_in: str = "--sockets, PEGASUS_BB_STAGER or XDG_STATE_HOME"

    def folder_of(self, uid: int) -> str:
        """Return where the workers of ``uid`` keep what their next try needs."""
        return os.path.join(self.users, str(uid))

    @property
    def users(self) -> str:
        """The folder that has those of users."""
        return os.path.join(self.state, "users")

    @property
    def database(self) -> str:
        """The path of the service's database."""
        return os.path.join(self.state, "tasks.sqlite")


def user_config() -> Config:
    """The service of this user on this host: every path, with the user's rights."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = os.path.join(state, "pegasus-bb", "stager", socket.gethostname())
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not os.path.isdir(runtime):  # a job has the variable of a login elsewhere
        runtime = folder
    sockets = os.environ.get("PEGASUS_BB_STAGER") or os.path.join(runtime, "pegasus-bb")
    spaces = {"file": Dataspace("file", "/")}
    return Config(folder, sockets, spaces, control_users=(os.getuid(),))


def site_config(path: str) -> Config:
    """The service that the JSON file ``path`` describes. Raises UsageError."""
    try:
        data = read_json(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    part = Section(path, data, _KEYS)
    declared = part.get("dataspaces")
    is_some = isinstance(declared, dict) and declared
    part.check(is_some, "dataspaces: {NAME: {path: ...}}", declared)
    workers = part.get("workers", _WORKERS)
    is_number = type(workers) is int and 0 < workers < 1000
    part.check(is_number, "workers: a number from 1 to 999", workers)
    state = part.folder("state", "/var/lib/pegasus-bb/stager")
    sockets = part.folder("sockets", "/run/pegasus-bb")
    for name in declared:
        good = NAME.fullmatch(name) and name != SPACE
        part.check(good, "a dataspace has a lower-case name", name)
    spaces = {name: _space(path, name, declared[name]) for name in declared}
    part.check(not ("node" in part and "slurm" in part), "node or slurm", "both")
    slurm = node = None
    own = {"state": state, "sockets": sockets}
    pools = {}
    control: tuple[int, ...] = (0, os.getuid())
    if "node" in part:
        node = read_nodes(f"{path}: node", part.get("node"), OF_A_NODE)
        # The folder of jobs is a dataspace, too.
        spaces[SPACE] = Dataspace(SPACE, node.path, SPACE, 0.0, node.discard)
        own["node: mailbox"] = node.mailbox
        pools["node: path"] = node.path
    if "slurm" in part:
        slurm = read_slurm(f"{path}: slurm", part.get("slurm"))
        control = (*control, slurm.uid)  # the control socket is SlurmUser's
        own["slurm: spool"] = slurm.spool
        if slurm.nodes is not None:
            own["slurm: nodes: mailbox"] = slurm.nodes.mailbox
        for pool in slurm.pools:  # each is a dataspace, too
            is_free = pool.name not in spaces
            part.check(is_free, "a pool is no dataspace with the same name", pool.name)
            limits = (pool.rate, pool.discard)
            spaces[pool.name] = Dataspace(pool.name, pool.path, pool.name, *limits)
            pools[f"slurm: pool {pool.name}"] = pool.path
    check_apart(path, own, pools)
    return Config(
        state,
        sockets,
        spaces,
        workers,
        is_site=True,
        control_users=control,
        slurm=slurm,
        node=node,
        named_in=path,
    )


def node_config(path: str) -> Config:
    """Return the service of a compute node that the JSON file ``path`` describes.
    Raises UsageError."""
    config = site_config(path)
    if not config.node:
        wanted = 'node: {"path": ..., "mailbox": ...}'
        raise UsageError(f"{path}: {wanted}; found None")
    return config


def _space(where: str, name: str, data: Any) -> Dataspace:
    part = Section(f"{where}: dataspace {name}", data, _SPACE_KEYS)
    target = part.get("target", name)
    wanted = "target: a name that other dataspaces may share"
    part.check(target and isinstance(target, str), wanted, target)
    limits = (part.rate(), part.discard())
    return Dataspace(name, part.folder("path"), target, *limits)
