"""Files of other hosts, where no pegasus-transfer fetches them."""

from __future__ import annotations

import os
import queue
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable, Union

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.process import ask, find_pegasus_transfer
from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line
from pegasus_bb.runtime.staging.hints import set_hint
from pegasus_bb.runtime.staging.items import Landed, stamp
from pegasus_bb.runtime.staging.parts import part_name
from pegasus_bb.runtime.transfers.checksums import check_digest
from pegasus_bb.runtime.transfers.transfer_methods import Way

FetchResult = tuple[Way, Union[Landed, Exception]]
_URL = re.compile(r"scp://(?:(\w[\w.-]*)@)?(\w[\w.-]*)(?::(\d{1,5}))?(/.*)", re.DOTALL)
# The remote shell of an old scp interprets anything else.
_PLAIN = re.compile(r"[A-Za-z0-9._/+=@,:~-]+")
_OPTIONS = ("-B", "-q", "-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=60")
_WEEK = 7 * 86400.0  # the batch system's limit is the one that counts
_NO_CONNECTION = 255
_TRIES = 3
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def own_schemes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the schemes, apart from local ones, that we fetch in this job: none if
    pegasus-transfer is there."""
    if find_pegasus_transfer(environ):
        return ()
    scp = ("scp",) if shutil.which("scp", path=environ.get("PATH")) else ()
    return "http", "https", *scp


def fetch_all(ways: Sequence[Way], threads: int) -> Iterator[FetchResult]:
    """Fetch all ``ways``; yields the result of each, in any order. The threads end with
    this process, whatever they wait for."""
    todo = deque(ways)
    done: queue.Queue[FetchResult] = queue.Queue()

    def work() -> None:
        while True:
            try:
                way = todo.popleft()
            except IndexError:  # another thread has taken it
                return
            try:
                done.put((way, fetch_file(way)))
            except Exception as error:
                done.put((way, error))

    for _ in range(min(threads, len(ways))):
        threading.Thread(target=work, daemon=True).start()
    for _ in ways:
        way, result = done.get()
        if not isinstance(result, (Landed, PegasusBBError, OSError)):
            raise result  # a bug
        yield way, result


def fetch_file(way: Way, sleep: Callable[[float], None] = time.sleep) -> Landed:
    """Bring ``way`` from its URL to its target, complete and durable. Raises
    CopyFailed, OSError; the target is then unchanged."""
    part = part_name(way.target)
    out = os.open(part, _NEW, 0o666)
    try:
        try:
            set_hint(out, way.hint)
            digest = _fetch(way, part, out, sleep)
            os.fsync(out)
        finally:
            os.close(out)
        check_digest(way.source, part, way.checksum, digest)
        os.replace(part, way.target)
    except BaseException:
        os.unlink(part)
        raise
    sync_directory(os.path.dirname(way.target))
    status = os.lstat(way.target)
    return Landed(status.st_size, digest, stamp(status), [])


def _fetch(way: Way, part: str, out: int, sleep: Callable[[float], None]) -> str:
    """Return the digest of the file, or nothing if it is not known yet."""
    if way.source.lower().startswith("scp:"):
        fetch_by_scp(way.source, part, shutil.which("scp") or "scp", sleep)
        return ""
    from pegasus_bb.runtime.transfers import web  # slow to load

    return web.fetch(way.source, out, sleep)


def fetch_by_scp(
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
