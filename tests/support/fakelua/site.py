"""The service's own answers, without the service: one pool of 1 GiB in a folder.

Only what Slurm itself does is made up: it proves who asks.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from pegasus_bb.core.removal import remove
from pegasus_bb.core.units import GIB, MIB
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm.buffers import Buffer, Buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.questions import Questions
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from pegasus_bb.stager.slurm.space_folders import Left, Trash
from pegasus_bb.stager.slurm.spool import HookRequest
from pegasus_bb.stager.store import Records, Store


class TrashNow(Trash):
    """Removes at once, without threads and a loop."""

    def __init__(self) -> None:
        super().__init__(cast(Any, None), (), bool)

    def _remove(self, left: Left) -> None:
        remove(left.path)
        self._gone(left)


class _Jobs:
    """kept.json has what is kept; no node has work."""

    def __init__(self, folder: Path) -> None:
        self.kept, self._path = self, folder / "kept.json"

    def as_json(self, uid: int | None = None) -> list[dict[str, Any]]:
        if uid is None or not self._path.exists():  # asked as nodes
            return []
        rows: list[dict[str, Any]] = json.loads(self._path.read_text())
        return [row for row in rows if uid in (0, row["uid"])]

    def discard(self, uid: int, number: int) -> int:
        rows = self.as_json(0)
        left = [r for r in rows if r["job"] != number or uid not in (0, r["uid"])]
        if left == rows:
            raise Refused("not-kept", f"you have no kept results of job {number}")
        self._path.write_text(json.dumps(left))
        return len(rows) - len(left)


def store_in(folder: Path) -> Store:
    """A store whose changes are all made at once."""
    folder.mkdir(exist_ok=True)
    return Store(str(folder / "tasks.sqlite"), lambda call: None)


def buffers_in(
    pool: GranulePool, store: Store, freed: Callable[[], None] = lambda: None
) -> tuple[Pools, Buffers]:
    """All of the one pool."""
    trash, files = TrashNow(), Records(store, Buffer)
    pools = Pools([pool], trash, [files])
    return pools, Buffers(files, pools, trash, freed)


def site(folder: Path, store: Store) -> tuple[Buffers, Questions]:
    (folder / "bb").mkdir(exist_ok=True)
    pool = GranulePool("flash", str(folder / "bb"), GIB, 4 * MIB)
    pools, buffers = buffers_in(pool, store)
    jobs: Any = _Jobs(folder)
    return buffers, Questions(buffers, jobs, pools, jobs, str)


def asked(folder: Path, uid: int, *words: str) -> str:
    fields = {"uid": str(uid), "gid": "0"}
    request = HookRequest("token", "status", uid, os.getgid(), fields, list(words), [])
    with closing(store_in(folder / "state")) as store:
        buffers, questions = site(folder, store)
        buffers.resume()
        return questions.answer(request)


def answer(argv: list[str]) -> int:
    folder = Path(os.environ["FAKE_SITE"])
    if (folder / "down").exists():
        print("slurm_load_bbstat: Unable to contact slurm controller", file=sys.stderr)
        return 1
    assert argv[:2] == ["show", "bbstat"], argv
    print(asked(folder, os.getuid(), *argv[2:]))
    return 0
