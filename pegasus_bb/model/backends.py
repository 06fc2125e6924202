"""The backends that serve a tier, and what each of them does. Code asks for what a
backend does, not for its name.

Standard library only and Python 3.9: this file runs on compute nodes.
"""

from __future__ import annotations

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

# What Slurm's plugins set where a job has a space of its own.
JOB_SPACES = ("BB_JOB", "DW_JOB_STRIPED", "DW_JOB_PRIVATE")


class BackendKind(NamedTuple):
    """A row of the table of backends."""

    name: str
    keys: tuple[str, ...]  # of a tier: its own
    unsupported: tuple[str, ...] = ()  # keys that other backends have
    has_reservations: bool = True  # else a job uses what its node has
    directive: str = ""  # Slurm's, that asks sbatch for the space of one job
    is_mounted: bool = False  # the space of a job is a mount, not a folder
    is_one_folder: bool = False  # that every node sees, and this machine
    needs_pool: bool = False
    cleans_up: bool = False  # its staging service removes what a run leaves

    @property
    def is_slurm(self) -> bool:
        """Whether Slurm makes its reservations, by directives of sbatch."""
        return bool(self.directive)


DATAWARP = BackendKind(
    "datawarp",
    ("timeout", "poll", "mount", "account", "partition", "qos"),
    directive="#DW jobdw",
    is_mounted=True,
)
DIRECTORY = BackendKind(
    "directory",
    (
        "path",
        "quota",
        "pools",
        "timeout",
        "service",
        "submit_dir",
        "delay",
        "fail",
        "owner",
    ),
    is_one_folder=True,
)
NODE_LOCAL = BackendKind(
    "node-local",
    (
        "path",
        "quota",
        "mount",
        "temp",
        "cache",
        "request",
        "largest",
        "price",
        "submit_dir",
    ),
    unsupported=("access", "pool", "streams", "drain"),
    has_reservations=False,
)
SLURM_LUA = BackendKind(
    "slurm-lua",
    ("timeout", "poll", "service"),
    unsupported=("access",),
    directive="#BB_LUA jobbb",
    needs_pool=True,
    cleans_up=True,
)

KINDS: Mapping[str, BackendKind] = {
    kind.name: kind for kind in (DATAWARP, DIRECTORY, NODE_LOCAL, SLURM_LUA)
}
