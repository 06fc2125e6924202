"""More clients than the service can have files open."""

from __future__ import annotations

import socket
from contextlib import ExitStack

from tests.support.stager import Daemon

MOST = 64  # files that the service may have open
LIMITED = f"""
import resource, socket
refused = open("COUNTS", "ab", 0)
resource.setrlimit(resource.RLIMIT_NOFILE, ({MOST}, {MOST}))
accept = socket.socket.accept
def counted(listening):
    try:
        return accept(listening)
    except OSError:
        refused.write(b"x")
        raise
socket.socket.accept = counted
"""


def test_those_that_wait_do_not_keep_it_busy_and_are_served_later(
    daemon: Daemon,
) -> None:
    counts = daemon.folder / "refused"
    counts.touch()
    daemon.code = LIMITED.replace("COUNTS", str(counts))
    client = daemon.start()
    with ExitStack() as open_ones:
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(MOST)]
        for each in waiting:
            open_ones.enter_context(each)
            each.connect(str(daemon.sockets / "user"))
        for _ in range(300):
            client.ask("ping")
        assert 0 < counts.stat().st_size < 100
    with daemon.connect() as later:
        later.ask("ping")
