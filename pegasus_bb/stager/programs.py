"""Programs beside the event loop, fstrim among them: one that hangs holds no thread."""

from __future__ import annotations

import asyncio
import contextlib
import os
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence

from pegasus_bb.core.process import Finished
from pegasus_bb.runtime.stager_client.dataspace import Dataspace, Dataspaces
from pegasus_bb.stager.messages import complain

_LONGEST = 86400.0  # seconds of a program
_ENDS = 1.0  # seconds in which a killed program has ended
_FSTRIM = "fstrim"
_SYSTEM = "/usr/sbin:/sbin"  # where it is, and where not every PATH looks


async def ask(argv: Sequence[str], env: Mapping[str, str], stdin: str = "") -> Finished:
    """As ``process.ask``, in the folder ``/``. A caller that is cancelled ends it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(env), cwd="/"
        )
    except OSError as error:
        return Finished(127, "", f"{argv[0]}: {error.strerror}")
    text = stdin.encode(errors="surrogateescape")
    try:
        out, err = await asyncio.wait_for(process.communicate(text), _LONGEST)
    except asyncio.TimeoutError:
        return Finished(124, "", f"{argv[0]} gave no answer within {_LONGEST:g} s")
    finally:
        if process.returncode is None:
            kill(process)
            with contextlib.suppress(asyncio.TimeoutError):  # a device may hold it
                await asyncio.wait_for(process.wait(), _ENDS)
    said = (out.decode(errors="replace"), err.decode(errors="replace"))
    return Finished(process.returncode or 0, *said)


def kill(process: asyncio.subprocess.Process) -> None:
    """End ``process``, which may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()


class Discards:
    """``fstrim`` after a removal, on what the configuration names and on nothing else.

    A flash drive copies deleted bytes as well, until it learns that they are free
    (docs/streams.md). FITRIM needs CAP_SYS_ADMIN. Where it fails, that is a line in the
    log; no removal waits for it. All calls come from the thread of the event loop.
    """

    def __init__(self, spaces: Dataspaces) -> None:
        self._spaces = spaces
        self._freed: set[str] = set()  # dataspaces with removals that no discard covers
        self._running: dict[str, asyncio.Future[None]] = {}
        self._complaints: dict[str, str] = {}  # the last one of each dataspace

    def freed(self, name: str) -> bool:
        """Note that files of dataspace ``name`` went; return whether it is discarded,
        now or as soon as it may be."""
        space = self._spaces.get(name)
        if space is None or not space.discard:
            return False
        self._freed.add(name)
        if name not in self._running:
            self._running[name] = asyncio.ensure_future(self._discard(space))
        return True

    def close(self) -> None:
        """End what runs; the next removal discards the rest."""
        for running in self._running.values():
            running.cancel()

    async def _discard(self, space: Dataspace) -> None:
        """One at a time, and none too soon: it looks at all free space."""
        try:
            while space.name in self._freed:
                self._freed.discard(space.name)
                self._report(space, await _trim(space.root))
                await asyncio.sleep(space.discard)
        finally:
            del self._running[space.name]

    def _report(self, space: Dataspace, why: str) -> None:
        """The same reason once, until it works again."""
        if why and why != self._complaints.get(space.name):
            complain(f"{space.root}: free space was not discarded: {why}")
        self._complaints[space.name] = why


async def _trim(root: str) -> str:
    """Return why it failed, if it did. ``root`` is a full path, so no option."""
    path = os.pathsep.join(filter(None, (os.environ.get("PATH"), _SYSTEM)))
    done = await ask((_FSTRIM, root), {"PATH": path, "LC_ALL": "C"})
    status = f"{_FSTRIM} ended with status {done.status}"
    return done.err.strip() or status if done.status else ""
