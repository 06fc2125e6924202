"""What a try of a task notes for the next one, in the folder of the task's user.

``N.moved`` of moving.py and ``N.jsonl`` of copying.py, for task N. A try that is killed
may leave ``.N.moved.*.part``.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Container

from pegasus_bb.stager.moving import note_path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOTE = re.compile(r"([0-9]{1,18})\.(?:moved|jsonl)|\.([0-9]{1,18})\.moved\..*\.part")


def remove(folder: str, number: int) -> None:
    """Those of task ``number``, which has ended durably."""
    for path in (note_path(folder, number), f"{folder}/{number}.jsonl"):
        with contextlib.suppress(OSError):
            os.unlink(path)


def sweep(users: str, wanted: Container[int]) -> None:
    """Those of all tasks but ``wanted``: an earlier service was killed too early.

    ``users`` has a folder for each user, who may put anything into his own and swap it
    meanwhile. So each is opened once, no link is followed, and nothing below is read.
    """
    with contextlib.suppress(OSError):
        for name in os.listdir(users):
            with contextlib.suppress(OSError):
                folder = os.open(os.path.join(users, name), _FOLDER)
                try:
                    _sweep_folder(folder, wanted)
                finally:
                    os.close(folder)


def _sweep_folder(folder: int, wanted: Container[int]) -> None:
    for name in os.listdir(folder):
        found = _NOTE.fullmatch(name)
        if found and int(found[1] or found[2]) not in wanted:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
