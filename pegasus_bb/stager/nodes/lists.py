"""Lists of what jobs have left on this node (contents.py), one of a user at a time.

A list is a process of the user, and another process of his may stop it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence

from pegasus_bb.stager.nodes.contents import Files
from pegasus_bb.stager.programs import ask

_PACKAGE = os.path.abspath(__file__).rsplit(os.sep + "pegasus_bb" + os.sep, 1)[0]
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from pegasus_bb.stager.nodes.contents import main; main(sys.argv[2:])"
)
_PROGRAM = (sys.executable, "-E", "-s", "-c", _START, _PACKAGE)
_ENVIRON = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_LONGEST = 86400.0  # seconds


class Lists:
    """All calls come from the thread of the event loop."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._turns: dict[int, asyncio.Lock] = {}  # by user

    async def of(self, uid: int, sources: Sequence[str]) -> dict[str, Files]:
        """The files below each ``node://`` place of ``sources`` that is there.

        Raises OSError where they cannot be read.
        """
        argv = [*_PROGRAM, str(uid), self._root]
        async with self._turns.setdefault(uid, asyncio.Lock()):
            done = await ask(argv, _ENVIRON, json.dumps(list(sources)), _LONGEST)
        if done.status != 0:
            last = (done.err.strip().splitlines() or ["no reason is known"])[-1]
            raise OSError(0, last, self._root)
        found: dict[str, Files] = json.loads(done.out)
        return found
