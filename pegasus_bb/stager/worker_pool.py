"""The worker processes of a service, each of one user."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Callable

from pegasus_bb.runtime.stager_client.protocol import LONGEST, encode
from pegasus_bb.runtime.stager_client.task import StagerTask
from pegasus_bb.stager.conversation import Message
from pegasus_bb.stager.programs import kill

# A user may stop (SIGSTOP) the workers that run as him. A thread of their own gives
# signs of life, so slow storage is not taken for that; a host that swaps may take long.
_SILENCE = 60.0  # seconds after which a worker is killed
_LOOKS = 4  # in that time: a service that was itself held up reads between two of them
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_START = "import sys; sys.path.insert(0, sys.argv[1]); "
ENVIRON = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

OnMessage = Callable[["WorkerProcess", Message], None]


def program_of(module: str, *words: str) -> list[str]:
    """Return what runs ``main`` of a module of ours with ``words``."""
    code = f"{_START}from pegasus_bb.stager.{module} import main; "
    code += "sys.exit(main(*sys.argv[2:]))"
    return [sys.executable, "-E", "-s", "-c", code, _PACKAGE, *words]


class WorkerProcess:
    """One worker. ``on_message`` gets all it says; ``{"gone": status}`` is the last, or
    the only one ``{"absent": reason}`` where it could not be started."""

    def __init__(self, uid: int, on_message: OnMessage) -> None:
        self.uid, self._on_message = uid, on_message
        self.tasks: dict[int, StagerTask] = {}  # its assignment; empty: it is idle
        self.since = 0.0  # a time.monotonic(): when it got that
        self._process: asyncio.subprocess.Process | None = None
        self._unsent = bytearray()  # before it has started
        self._has_spoken = True  # since the last look
        self._running = asyncio.ensure_future(self._run())

    def assign(self, tasks: list[StagerTask]) -> None:
        """Give it ``tasks`` until it says that it is idle."""
        self.tasks, self.since = {task.id: task for task in tasks}, time.monotonic()

    @property
    def is_slow(self) -> bool:
        """Whether a task of its assignment has a rate, and may hold it for long."""
        return any(task.terms.rate for task in self.tasks.values())

    def send(self, message: Message) -> None:
        """Send it a message; to one that has died, nothing is sent."""
        if self._process is None:
            self._unsent += encode(message)
        elif self._process.stdin is not None:
            self._process.stdin.write(encode(message))

    def end(self) -> None:
        """End it at once, and what it was doing with it, even if it is stopped."""
        if self._process is None:
            self._running.cancel()
        else:
            kill(self._process)

    async def _run(self) -> None:
        """The process becomes its user before it opens anything."""
        sign = str(_SILENCE / _LOOKS / 2)
        try:
            process = await asyncio.create_subprocess_exec(
                *program_of("worker", str(self.uid), sign),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=LONGEST,
                env=ENVIRON,
                cwd="/",
            )
        except (OSError, RuntimeError) as error:  # no process, memory or thread is free
            self._on_message(self, {"absent": getattr(error, "strerror", str(error))})
            return
        self._process = process
        assert process.stdin is not None  # noqa: S101 - pipes were asked for
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(bytes(self._unsent))
        watching = asyncio.ensure_future(self._watch(process))
        try:
            async for line in process.stdout:
                self._has_spoken = True
                self._on_message(self, json.loads(line.decode()))
            why = f"status {await process.wait()}"
        except (KeyError, TypeError, ValueError) as error:
            kill(process)
            why = f"it said what no worker says: {error!r}"
        if watching.done():
            why = f"no sign of life for {_SILENCE:.0f} seconds"
        watching.cancel()
        self._on_message(self, {"gone": why})

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Kill it if it works and gives no sign of life."""
        silent = 0
        while silent < _LOOKS:
            await asyncio.sleep(_SILENCE / _LOOKS)
            silent = 0 if self._has_spoken or not self.tasks else silent + 1
            self._has_spoken = False
        kill(process)


class WorkerPool:
    """``most`` workers, or one more (see TaskQueue); an idle one makes way for one of
    another user."""

    def __init__(self, most: int, on_message: OnMessage) -> None:
        self._most, self._on_message = most, on_message
        self.workers: set[WorkerProcess] = set()

    @property
    def busy(self) -> list[WorkerProcess]:
        """Those with an assignment."""
        return [worker for worker in self.workers if worker.tasks]

    def worker_of(self, uid: int) -> WorkerProcess:
        """Return an idle worker of ``uid``; start one if there is none."""
        idle = [worker for worker in self.workers if not worker.tasks]
        for worker in idle:
            if worker.uid == uid:
                return worker
        while idle and len(self.workers) >= self._most:
            self.workers.discard(idle[-1])
            idle.pop().end()
        worker = WorkerProcess(uid, self._on_message)
        self.workers.add(worker)
        return worker
