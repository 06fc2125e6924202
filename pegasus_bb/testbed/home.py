"""The folders of a testbed on its host."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from pegasus_bb.errors import UsageError
from pegasus_bb.testbed.flavour import DEFAULT, Flavour

_VARIABLE = "PEGASUS_BB_TESTBED"


class Home:
    """The folder of one testbed: root file system, shared work folder, its state."""

    def __init__(self, flavour: Flavour = DEFAULT, above: Path | None = None) -> None:
        named = os.environ.get(_VARIABLE)
        default = Path.home() / ".cache" / "pegasus-bb" / "testbed"
        above = above or (Path(named) if named else default)
        self.flavour = flavour
        self.folder = above.resolve() / f"slurm-{flavour.slurm}"

    @property
    def root(self) -> Path:
        """The root file system; there only once it is whole."""
        return self.folder / "root"

    @property
    def part(self) -> Path:
        """A root file system that is being built, or that was left half built."""
        return self.folder / "root.part"

    @property
    def recipe(self) -> Path:
        """What the root file system was built from."""
        return self.folder / "recipe.json"

    @property
    def work(self) -> Path:
        """Seen inside at the same path; every user may write there."""
        return self.folder / "work"

    @property
    def state(self) -> Path:
        """The process that holds the namespaces of the running testbed."""
        return self.folder / "state.json"

    @property
    def environ(self) -> Path:
        """What every command inside finds in its environment; most often none."""
        return self.folder / "environ.json"

    @property
    def log(self) -> Path:
        return self.folder / "build.log"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One `up` or `down` at a time. Raises UsageError where another one runs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError as error:
            raise UsageError(
                f"another pegasus-bb testbed works on {self.folder}; wait for its end, "
                f"or name another folder in ${_VARIABLE}"
            ) from error
        finally:
            os.close(handle)
