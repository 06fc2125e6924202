"""Files of other hosts, where no pegasus-transfer fetches them."""

from __future__ import annotations

import os
import queue
import shutil
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable, Union

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import sync_directory
from pegasus_bb.core.process import find_pegasus_transfer
from pegasus_bb.runtime.staging.hints import set_hint
from pegasus_bb.runtime.staging.items import Landed, stamp
from pegasus_bb.runtime.staging.parts import part_name
from pegasus_bb.runtime.transfers.checksums import check_digest
from pegasus_bb.runtime.transfers.transfer_methods import Way

FetchResult = tuple[Way, Union[Landed, Exception]]
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
        from pegasus_bb.runtime.transfers import scp

        scp.fetch(way.source, part, shutil.which("scp") or "scp", sleep)
        return ""
    from pegasus_bb.runtime.transfers import web  # slow to load

    return web.fetch(way.source, out, sleep)
