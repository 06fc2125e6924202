"""Closing descriptors that users have passed, whatever they are of.

To close a file of FUSE waits for an answer of the program that serves it, which may be
the user's own and never give one. So each user has a thread for that.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque

from pegasus_bb.runtime.stager_client.memory import is_memory

_MOST = 64  # descriptors of one user that are not closed yet


class BackgroundClose:
    """Of all users of a service."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: dict[int, deque[int]] = {}  # by user

    def close(self, uid: int, descriptor: int) -> None:
        """Never waits."""
        if is_memory(descriptor):
            os.close(descriptor)
            return
        with self._lock:
            is_first = uid not in self._left
            self._left.setdefault(uid, deque()).append(descriptor)
        if is_first:
            threading.Thread(target=self._work, args=(uid,), daemon=True).start()

    def has_many(self, uid: int) -> bool:
        """Whether no more may be received of ``uid``."""
        return len(self._left.get(uid, ())) >= _MOST

    def _work(self, uid: int) -> None:
        left = self._left[uid]
        while True:
            with contextlib.suppress(OSError):
                os.close(left[0])
            with self._lock:
                left.popleft()
                if not left:
                    del self._left[uid]
                    return
