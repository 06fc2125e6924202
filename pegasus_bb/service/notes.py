"""What a try of a task notes for the next one, in the folder of the task's user.

``N.moved`` of moving.py and ``N.jsonl`` of copying.py, for task N. A try that is killed
may leave ``.N.moved.*.part``.
"""

from __future__ import annotations

import contextlib
import os
import re
from typing import Container

from pegasus_bb.service.moving import note_path

_NOTE = re.compile(r"([0-9]+)\.(?:moved|jsonl)|\.([0-9]+)\.moved\..*\.part")


def remove(folder: str, number: int) -> None:
    """Those of task ``number``, which has ended durably."""
    for path in (note_path(folder, number), f"{folder}/{number}.jsonl"):
        with contextlib.suppress(OSError):
            os.unlink(path)


def sweep(users: str, wanted: Container[int]) -> None:
    """Those of all tasks but ``wanted``: an earlier service was killed too early.
    ``users`` has a folder for each user."""
    for folder, _, names in os.walk(users):
        for name in names:
            found = _NOTE.fullmatch(name)
            if found and int(found[1] or found[2]) not in wanted:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))
