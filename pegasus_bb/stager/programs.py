"""Programs beside the event loop: a program that hangs holds no thread of it."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence

from pegasus_bb.core.process import Finished

_ENDS = 1.0  # seconds in which a killed program has ended


async def ask(
    argv: Sequence[str],
    env: Mapping[str, str],
    stdin: str = "",
    timeout: float | None = None,
) -> Finished:
    """As ``process.ask``, in the folder ``/``. A caller that is cancelled ends it."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(env), cwd="/"
        )
    except OSError as error:
        return Finished(127, "", f"{argv[0]}: {error.strerror}")
    text = stdin.encode(errors="surrogateescape")
    try:
        out, err = await asyncio.wait_for(process.communicate(text), timeout)
    except asyncio.TimeoutError:
        await _kill(process)
        return Finished(124, "", f"{argv[0]} gave no answer within {timeout:g} s")
    except asyncio.CancelledError:
        await _kill(process)
        raise
    said = (out.decode(errors="replace"), err.decode(errors="replace"))
    return Finished(process.returncode or 0, *said)


async def _kill(process: asyncio.subprocess.Process) -> None:
    """It has ended then, or a device holds it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(process.wait(), _ENDS)
