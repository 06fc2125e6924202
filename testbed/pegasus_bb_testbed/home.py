"""The sites that a testbed can be, and the folders of each on its host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import await_lock

_VARIABLE = "PEGASUS_BB_TESTBED"
_PATIENCE = 60.0  # seconds: a root file system is copied meanwhile, or comes up
_SLURM = ("slurm-wlm", "munge", "python3", "procps", "less")


@dataclass(frozen=True)
class Flavour:
    """What its root file system is built from."""

    slurm: str  # the version, as people name it
    suite: str  # of Debian
    htcondor: bool  # Debian 12 has none
    plugin: str = "datawarp"  # of Slurm, for burst buffers: datawarp | lua
    number: int = 1  # of sites of this kind, side by side

    @property
    def packages(self) -> tuple[str, ...]:
        """Debian 13's condor brings blahp with it; curl is for pegasus-transfer, and
        lua5.1 for `site install`, which tries the hooks."""
        return ("condor", "curl", "lua5.1", *_SLURM) if self.htcondor else _SLURM

    @property
    def name(self) -> str:
        """Of its folder. Sites with the same Slurm have the same packages."""
        kind = f"slurm-{self.slurm}" + ("-lua" if self.plugin == "lua" else "")
        return kind + (f"-{self.number}" if self.number > 1 else "")

    def recipe(self) -> dict[str, Any]:
        """Noted beside what was built: another recipe means to build afresh."""
        return {"version": 1, "suite": self.suite, "packages": list(self.packages)}


FLAVOURS = {
    flavour.slurm: flavour
    for flavour in (
        Flavour("24.11", "trixie", htcondor=True),
        Flavour("22.05", "bookworm", htcondor=False),
    )
}
DEFAULT = FLAVOURS["24.11"]


def flavour(slurm: str, plugin: str = "datawarp", number: int = 1) -> Flavour:
    """The one with that Slurm and its plugin for burst buffers. Raises UsageError."""
    if slurm not in FLAVOURS:
        known = ", ".join(FLAVOURS)
        raise UsageError(f"no testbed with Slurm {slurm!r}; there are {known}")
    if plugin == "lua" and slurm != DEFAULT.slurm:
        raise UsageError(
            f"burst_buffer/lua of Slurm {slurm} has 11 of the 13 functions that ours "
            f"needs; --slurm {DEFAULT.slurm} has them"
        )
    return replace(FLAVOURS[slurm], plugin=plugin, number=number)


class Home:
    """The folder of one testbed: root file system, shared work folder, its state."""

    def __init__(self, flavour: Flavour = DEFAULT, above: Path | None = None) -> None:
        named = os.environ.get(_VARIABLE)
        default = Path.home() / ".cache" / "pegasus-bb" / "testbed"
        self.above = (above or (Path(named) if named else default)).resolve()
        self.flavour = flavour
        self.folder = folder = self.above / flavour.name
        self.root = folder / "root"  # the root file system; only once it is whole
        self.part = folder / "root.part"  # being built, or left half built
        self.recipe = folder / "recipe.json"  # what the root was built from
        self.work = folder / "work"  # every user may write there; same path inside
        self.unseen = self.work / "unseen"  # no node of the pool sees what is in it
        self.state = folder / "state.json"  # the process that holds the namespaces
        self.environ = folder / "environ.json"  # of every command inside; often none
        self.log = folder / "build.log"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One `up` or `down` at a time. Raises UsageError where another one runs for
        longer than a minute."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            self._await_turn(handle)
            yield
        finally:
            os.close(handle)

    def _await_turn(self, handle: int) -> None:
        try:
            await_lock(handle, _PATIENCE, pause=0.1)
        except BlockingIOError as error:
            raise UsageError(
                f"another pegasus-bb testbed works on {self.folder}; wait for its end, "
                f"or name another folder in ${_VARIABLE}"
            ) from error
