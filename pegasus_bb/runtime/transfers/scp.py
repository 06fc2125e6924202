"""Fetches a file by scp, which asks for no password."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from pegasus_bb.core.process import ask
from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line

_URL = re.compile(r"scp://(?:(\w[\w.-]*)@)?(\w[\w.-]*)(?::(\d{1,5}))?(/.*)", re.DOTALL)
# The remote shell of an old scp interprets anything else.
_PLAIN = re.compile(r"[A-Za-z0-9._/+=@,:~-]+")
_OPTIONS = ("-B", "-q", "-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=60")
_WEEK = 7 * 86400.0  # the batch system's limit is the one that counts
_NO_CONNECTION = 255
_TRIES = 3


def fetch(
    url: str, path: str, scp: str, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Fetch ``url`` into the file ``path`` by the program ``scp``. Raises
    CopyFailed."""
    match = _URL.fullmatch(url)
    if match is None or not _PLAIN.fullmatch(match[4]):
        raise CopyFailed(
            f"{on_a_line(url)}: not of the form scp://USER@HOST:PORT/PATH, with a path "
            "of letters, digits and . _ / + = @ , : ~ -"
        )
    user, host, port, remote = match.groups()
    source = f"{user}@{host}:{remote}" if user else f"{host}:{remote}"
    argv = [scp, *_OPTIONS, *(("-P", port) if port else ()), "--", source, path]
    for number in range(1, _TRIES + 1):
        done = ask(argv, timeout=_WEEK)
        if done.status == 0:
            return
        if done.status != _NO_CONNECTION or number == _TRIES:
            break
        sleep(5.0 * number)
    why = done.err.strip() or "it says nothing"
    raise CopyFailed(f"{on_a_line(url)}: scp ended with {done.status}: {why}")
