"""Where a service lives and which dataspaces it has."""

from __future__ import annotations

import os
import socket
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, Dataspaces
from pegasus_bb.stager.config_checks import Section
from pegasus_bb.stager.slurm.slurm_config import (
    NODE_KEYS,
    SLURM_KEYS,
    SPACE,
    NodesConfig,
    SlurmConfig,
    read_nodes,
    read_slurm,
)

_KEYS = ("dataspaces", "state", "sockets", "workers", "slurm", "node")
_SPACE_KEYS = ("path", "target", "rate", "discard")
_WORKERS = 2


class Config(NamedTuple):
    """How one service is set up."""

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
    workers = part.get("workers", _WORKERS)
    is_number = type(workers) is int and 0 < workers < 1000
    part.check(is_number, "workers: a number from 1 to 999", workers)
    state = part.folder("state", "/var/lib/pegasus-bb/stager")
    sockets = part.folder("sockets", "/run/pegasus-bb")
    parts = part.named("dataspace", _SPACE_KEYS, "{NAME: {path: ...}}", (SPACE,))
    spaces = {name: each.dataspace(name) for name, each in parts.items()}
    part.check(not ("node" in part and "slurm" in part), "node or slurm", "both")
    slurm = node = None
    own = {"state": state, "sockets": sockets}
    pools = {}
    control: tuple[int, ...] = (0, os.getuid())
    if "node" in part:
        of_node = part.part("node", NODE_KEYS)
        node = read_nodes(of_node)
        spaces[SPACE] = of_node.dataspace(SPACE)  # the folder of jobs
        own["node: mailbox"] = node.mailbox
        pools["node: path"] = node.path
    if "slurm" in part:
        slurm, more = read_slurm(part.part("slurm", SLURM_KEYS))
        control = (*control, slurm.uid)  # the control socket is SlurmUser's
        own["slurm: spool"] = slurm.spool
        if slurm.nodes is not None:
            own["slurm: nodes: mailbox"] = slurm.nodes.mailbox
        for name, space in more.items():
            wanted = "a pool is no dataspace with the same name"
            part.check(name not in spaces, wanted, name)
            pools[f"slurm: pool {name}"] = space.root
        spaces.update(more)
    part.check_apart(own, pools)
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
