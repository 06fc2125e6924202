"""Process 1 of the namespaces: makes the mounts, then buries what dies inside.

Called as `python -m pegasus_bb_testbed.holder READY LIFE ROOT [SHARED]...`, the first
two descriptors: the word comes on READY once the mounts are made. LIFE is the end of a
pipe; when its other end is closed, all ends (-1: all ends when this is killed).
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
import threading
import time
from pathlib import Path

from pegasus_bb.core.process import ask

HOST = "testbed"
MOUNTS = Path("/var/opt/cray/dws/mounts/batch")  # where jobs find their buffers
_IFF_UP = 0x1
_IFF_RUNNING = 0x40
_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916


def main(argv: list[str]) -> None:
    """Never returns: ends with SIGKILL, and everything inside with it."""
    ready = int(argv[0])
    life = int(argv[1])
    root = Path(argv[2])
    socket.sethostname(HOST)
    _loopback_up()
    for words in mounts(root, [Path(path) for path in argv[3:]]):
        _mount(root, words)
    os.write(ready, b"ready")
    os.close(ready)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if life >= 0:
        threading.Thread(target=_end_with, args=(life,), daemon=True).start()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(1)


def _end_with(life: int) -> None:
    """The other end is closed with the process that has it, however that ends."""
    os.read(life, 1)
    os._exit(0)


def mounts(root: Path, shares: list[Path]) -> list[list[str]]:
    """What stands behind `mount`, in order; shares are seen at the same path."""
    found = [
        ["-t", "proc", "proc", str(root / "proc")],
        ["-t", "sysfs", "-o", "ro", "sysfs", str(root / "sys")],
        ["--rbind", "/dev", str(root / "dev")],
        ["-t", "tmpfs", "-o", "mode=755", "tmpfs", str(root / "run")],
        ["-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / "tmp")],
        # Another device than the buffers: a mount can be told from a plain folder.
        ["-t", "tmpfs", "-o", "mode=755", "tmpfs", f"{root}{MOUNTS}"],
    ]
    return found + [["--bind", str(s), f"{root}{s}"] for s in shares]


def _mount(root: Path, words: list[str]) -> None:
    target = Path(words[-1])
    target.mkdir(parents=True, exist_ok=True)
    for above in target.parents:  # such as /root: users pass through, and see nothing
        if above != root and above.is_relative_to(root):
            above.chmod(above.stat().st_mode | 0o111)
    answer = ask(["mount", *words])
    if answer.status != 0:
        sys.exit(f"mount {' '.join(words)}: {answer.err.strip()}")


def _loopback_up() -> None:
    """A network of its own has a loopback, which is down.

    It gets a second address: the C library takes a host that has nothing but 127.0.0.1
    for one without IPv4, and then finds no name, not even in /etc/hosts.
    """
    up = struct.pack("16sH22x", b"lo", _IFF_UP | _IFF_RUNNING)
    second = socket.inet_aton("127.0.0.2")
    address = struct.pack("16sHH4s16x", b"lo:0", socket.AF_INET, 0, second)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as talk:
        fcntl.ioctl(talk, _SIOCSIFFLAGS, up)
        fcntl.ioctl(talk, _SIOCSIFADDR, address)


if __name__ == "__main__":
    main(sys.argv[1:])
