"""Where a service lives and which dataspaces it has."""

from __future__ import annotations

import os
import socket
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, Dataspaces, parse_rate
from pegasus_bb.stager.config_checks import NAME, check, check_apart, check_keys, folder
from pegasus_bb.stager.discard import KEY as DISCARD
from pegasus_bb.stager.discard import parse_discard
from pegasus_bb.stager.nodes.nodes_config import SPACE, NodeConfig, read_node
from pegasus_bb.stager.slurm.slurm_config import SlurmConfig, read_slurm

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
    control_users: tuple = (0,)  # type: ignore[type-arg]  # may use `control`
    idle: float = 60.0  # seconds without work after which a user's service ends
    slurm: SlurmConfig | None = None
    node: NodeConfig | None = None  # of a compute node
    # Where its folders are named, for the words of errors.
    named_in: str = "--sockets, PEGASUS_BB_STAGER or XDG_STATE_HOME"

    def folder_of(self, uid: int) -> str:
        """Where the workers of ``uid`` keep what their next try needs."""
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
    check_keys(path, data, _KEYS)
    declared = data.get("dataspaces")
    good = isinstance(declared, dict) and declared
    check(good, path, "dataspaces: {NAME: {path: ...}}", declared)
    workers = data.get("workers", _WORKERS)
    is_number = type(workers) is int and 0 < workers < 1000
    check(is_number, path, "workers: a number from 1 to 999", workers)
    state = folder(path, "state", data.get("state", "/var/lib/pegasus-bb/stager"))
    sockets = folder(path, "sockets", data.get("sockets", "/run/pegasus-bb"))
    spaces = {name: _space(path, name, declared[name]) for name in declared}
    config = Config(state, sockets, spaces, workers, is_site=True, named_in=path)
    config = config._replace(control_users=(0, os.getuid()))
    check(not ("node" in data and "slurm" in data), path, "node or slurm", "both")
    if "node" in data:
        config = _with_node(config, read_node(f"{path}: node", data["node"]))
    if "slurm" in data:
        config = _with_slurm(config, path, read_slurm(f"{path}: slurm", data["slurm"]))
    _check_folders(path, config)
    return config


def node_config(path: str) -> Config:
    """The service of a compute node that the JSON file ``path`` describes. Raises
    UsageError."""
    config = site_config(path)
    check(config.node, path, 'node: {"path": ..., "mailbox": ...}', None)
    return config


def _with_node(config: Config, node: NodeConfig) -> Config:
    """The folder of jobs is a dataspace, too."""
    config.spaces[SPACE] = Dataspace(SPACE, node.path, SPACE, 0.0, node.discard)
    return config._replace(node=node)


def _with_slurm(config: Config, path: str, slurm: SlurmConfig) -> Config:
    """Each pool is a dataspace, too; the control socket is SlurmUser's."""
    for pool in slurm.pools:
        taken = pool.name in config.spaces
        check(not taken, path, "a pool is no dataspace with the same name", pool.name)
        limits = pool.rate, pool.discard
        space = Dataspace(pool.name, pool.path, pool.name, *limits)
        config.spaces[pool.name] = space
    return config._replace(slurm=slurm, control_users=(0, os.getuid(), slurm.uid))


def _check_folders(path: str, config: Config) -> None:
    own = {"state": config.state, "sockets": config.sockets}
    pools = {}
    if config.node is not None:
        own["node: mailbox"], pools["node: path"] = (
            config.node.mailbox,
            config.node.path,
        )
    if config.slurm is not None:
        own["slurm: spool"] = config.slurm.spool
        pools = {f"slurm: pool {pool.name}": pool.path for pool in config.slurm.pools}
        if config.slurm.nodes is not None:
            own["slurm: nodes: mailbox"] = config.slurm.nodes.mailbox
    check_apart(path, own, pools)


def _space(path: str, name: str, data: Any) -> Dataspace:
    where = f"{path}: dataspace {name}"
    good = NAME.fullmatch(name) and name != SPACE
    check(good, path, "a dataspace has a lower-case name", name)
    check_keys(where, data, _SPACE_KEYS)
    target = data.get("target", name)
    wanted = "target: a name that other dataspaces may share"
    check(target and isinstance(target, str), where, wanted, target)
    root = folder(where, "path", data.get("path"))
    limits = parse_rate(where, data), parse_discard(where, data)
    return Dataspace(name, root, target, *limits)
