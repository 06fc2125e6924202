"""Slurm's part of the service, for as long as it has something to do in ``ROOT``.

``python attend.py ROOT``: heeds what is in the spool and ends. One thread, and copies
are done at once, so that the n-th system call is the same in every run.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, cast
from unittest.mock import patch

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, parse_place
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.stager_client.task import DONE, FAILED, Origin, StagerTask
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.slurm import spool
from pegasus_bb.stager.slurm.attendant import Attendant
from pegasus_bb.stager.slurm.slurm_config import GranulePool, SlurmConfig
from pegasus_bb.stager.slurm.space_folders import Left, Trash, why_left
from pegasus_bb.stager.store import Store

MIB = 1 << 20
spool.BELLS = 1  # each costs two calls of a start


def remove_at_once(trash: Any, left: Left) -> None:
    """What cannot be removed now is left to the next service."""
    if not why_left(left.path):
        trash._loop.call_soon(lambda: trash._gone(left))


class Loop:
    """An event loop that does what is to be done soon, and no more."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, step: Callable[[], None]) -> Loop:
        self.soon.append(step)
        return self

    def call_later(self, delay: float, step: Callable[[], None]) -> Loop:
        return self

    def run_in_executor(self, _: Any, step: Callable[..., Any], *words: Any) -> Loop:
        self._result = step(*words)
        return self

    def result(self) -> Any:
        """What the step of ``run_in_executor`` has returned."""
        return self._result

    def add_done_callback(self, then: Callable[[Any], None]) -> None:
        then(self)

    def create_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Nothing in it waits."""
        try:
            work.send(None)
        except StopIteration:
            return
        raise AssertionError(f"{work} waits")

    def add_reader(self, *_: Any) -> None:
        pass

    def remove_reader(self, *_: Any) -> None:
        pass

    def cancel(self) -> None:
        pass

    def time(self) -> float:
        return 1000.0


class Copies:
    """A service that has done each task when it is submitted; it has failed it where a
    folder is in the way, and where the disk fails it does it later."""

    def __init__(self, spaces: dict[str, Dataspace], store: Store, loop: Loop) -> None:
        self.tasks: dict[int, StagerTask] = {}
        self.spaces, self.store, self.loop = spaces, store, loop
        self.discards = self

    async def submit(
        self, uid: int, specs: Any, raw: bytes, also: Any
    ) -> list[StagerTask]:
        first = time.time_ns()  # no number comes twice, as in the journal
        new = {}
        for number, spec in enumerate(specs, start=first):
            task = new[number] = StagerTask(number, Origin(uid, 0.0, first), spec)
            task.state = DONE
            try:
                self._copy(self._path(task.source), self._path(task.dest))
            except IsADirectoryError as error:
                task.state, task.message = FAILED, str(error)
            except OSError as error:
                raise Refused("busy", str(error)) from error
        self.store.write_now(also(range(first, first + len(specs))))
        self.tasks.update(new)
        return list(new.values())

    async def ended(self, tasks: list[StagerTask]) -> None:
        pass

    def _copy(self, source: str, dest: str) -> None:
        shutil.copyfile(source, dest + ".part")
        os.rename(dest + ".part", dest)

    def freed(self, space: str) -> bool:
        return False

    def cancel(self, tasks: list[StagerTask]) -> None:
        assert tasks == []

    def _path(self, url: str) -> str:
        place = parse_place(url, self.spaces)
        return os.path.join(self.spaces[place.space].root, *place.parts)


@patch("pegasus_bb.stager.store.threading.Thread")  # nothing is left to it
@patch.object(Trash, "_remove", remove_at_once)
def attend(root: str, _: Any) -> int:
    """How many requests are left; 2 where it could not begin."""
    roots = {"lustre": f"{root}/lustre", "flash": f"{root}/bb"}
    spaces = {name: Dataspace(name, folder) for name, folder in roots.items()}
    pool = GranulePool("flash", roots["flash"], 10 * MIB, MIB)
    config = Config(f"{root}/var", f"{root}/sockets", spaces)
    slurm = SlurmConfig(os.getuid(), f"{root}/spool", (pool,))
    loop = Loop()
    try:
        store = Store(config.database, loop.call_soon)
        service = cast(Any, Copies(spaces, store, loop))
        attendant = Attendant(slurm, service, cast(Any, loop))
    except (OSError, PegasusBBError) as error:
        print(error)
        return 2
    for step in loop.soon:
        step()
    attendant.close()
    store.close()
    return len(os.listdir(f"{root}/spool/requests"))


if __name__ == "__main__":
    sys.exit(attend(sys.argv[1]))
