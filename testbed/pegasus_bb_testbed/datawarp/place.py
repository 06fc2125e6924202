"""Where an emulated DataWarp keeps its files, and what its administrator set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json


class Pool(NamedTuple):
    """A pool of fast storage; Slurm is told both numbers in granules and bytes."""

    name: str
    granularity: int  # bytes in a granule
    quantity: int  # granules in all


class Place:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "datawarp.json"  # pools and mount folder, by install()
        self.accounts = root / "accounts.json"  # sessions and instances; by rename
        self.lock = root / "accounts.lock"
        self.injected_faults = root / "injected_faults"
        self.calls = root / "calls.jsonl"  # a line per call that changes something
        self.buffers = root / "buffers"  # <number of the instance>/{striped,private}
        self.trash = root / "trash"

    def pools(self) -> list[Pool]:
        """The default one first. Raises UsageError if the file cannot be read."""
        return [Pool(*entry) for entry in self._setting("pools")]

    def pool(self, name: str) -> Pool:
        """Raises UsageError if there is no such pool."""
        found = next((pool for pool in self.pools() if pool.name == name), None)
        if found is None:
            raise UsageError(f"no pool {name!r} in {self.config}")
        return found

    def mounts(self) -> Path:
        return Path(self._setting("mounts"))

    def binds(self) -> bool:
        return bool(self._setting("bind"))

    def _setting(self, key: str) -> Any:
        try:
            return read_json(str(self.config))[key]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{self.config}: not readable ({error})") from error
