"""Where an emulated DataWarp keeps its things, and what its administrator set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.errors import UsageError
from pegasus_bb.files import read_json


class Pool(NamedTuple):
    """A pool of fast storage; Slurm is told both numbers in granules and bytes."""

    name: str
    granularity: int  # bytes in a granule
    quantity: int  # granules in all


class Place(NamedTuple):
    """The folder of one emulated DataWarp."""

    root: Path

    @property
    def config(self) -> Path:
        """Pools and mount folder, written once by install()."""
        return self.root / "datawarp.json"

    @property
    def books(self) -> Path:
        """Sessions and instances; changed under the lock, by rename."""
        return self.root / "books.json"

    @property
    def lock(self) -> Path:
        return self.root / "books.lock"

    @property
    def injected_faults(self) -> Path:
        """Delays and failures on request; see injected_faults.py."""
        return self.root / "injected_faults"

    @property
    def calls(self) -> Path:
        """A line per call that changes something."""
        return self.root / "calls.jsonl"

    @property
    def buffers(self) -> Path:
        """<number of the instance>/{striped,private}."""
        return self.root / "buffers"

    @property
    def trash(self) -> Path:
        return self.root / "trash"

    def pools(self) -> list[Pool]:
        """The default one first. Raises UsageError where the file cannot be read."""
        return [Pool(*entry) for entry in self._setting("pools")]

    def pool(self, name: str) -> Pool:
        """Raises UsageError where there is no such pool."""
        found = next((pool for pool in self.pools() if pool.name == name), None)
        if found is None:
            raise UsageError(f"no pool {name!r} in {self.config}")
        return found

    def mounts(self) -> Path:
        """Below it a job finds its buffers."""
        return Path(self._setting("mounts"))

    def binds(self) -> bool:
        """Whether a buffer is mounted there, or linked."""
        return bool(self._setting("bind"))

    def _setting(self, key: str) -> Any:
        try:
            return read_json(str(self.config))[key]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{self.config}: not readable ({error})") from error
