"""Both sockets: made here, or opened by systemd, which starts the service on demand."""

from __future__ import annotations

import contextlib
import errno
import os
import socket

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.stager_client.protocol import (
    CONTROL_SOCKET,
    USER_SOCKET,
    check_socket,
)
from pegasus_bb.stager.site_config import Config

NAMES = (CONTROL_SOCKET, USER_SOCKET)  # in this order: who can ask finds both
_BACKLOG = 128
_FIRST = 3  # SD_LISTEN_FDS_START of sd_listen_fds(3)


class Sockets:
    """``by_name``: the listening sockets."""

    def __init__(self, config: Config) -> None:
        """Raises OSError, and UsageError for sockets that systemd should not give."""
        self._own: list[str] = []
        self.by_name = _inherited()
        try:
            for name in () if self.by_name else NAMES:
                path = os.path.join(config.sockets, name)
                _check_free(path)
                self._own.append(path)
                self.by_name[name] = _made(config, name, path)
        except BaseException:
            self.close()
            raise

    def remove_names(self) -> None:
        """Remove the files of the sockets before these are closed: once nothing listens
        there, another service may take them. What systemd has opened stays."""
        for path in self._own:
            with contextlib.suppress(OSError):
                os.unlink(path)

    def close(self) -> None:
        """End what no server listens on."""
        self.remove_names()
        for listening in self.by_name.values():
            listening.close()


def _inherited() -> dict[str, socket.socket]:
    """What systemd has opened for this process: by the names of their files."""
    count = os.environ.pop("LISTEN_FDS", "")
    pid = os.environ.pop("LISTEN_PID", "")
    if pid != str(os.getpid()) or not count.isdigit():
        return {}
    found: dict[str, socket.socket] = {}
    for number in range(_FIRST, _FIRST + int(count)):
        os.set_inheritable(number, False)
        listening = socket.socket(fileno=number)
        listening.setblocking(False)
        found[os.path.basename(str(listening.getsockname()))] = listening
    if found and sorted(found) != sorted(NAMES):
        raise UsageError(
            f"systemd gives the sockets {', '.join(sorted(found))}; the service needs "
            f"{' and '.join(NAMES)}: one ListenStream= for each, with these file names"
        )
    return found


def _check_free(path: str) -> None:
    """Raises UsageError where no socket can have that path, and where a service with
    another folder of state listens: no one would reach it any more."""
    check_socket(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        if client.connect_ex(path) in (0, errno.EAGAIN):  # EAGAIN: its queue is full
            raise UsageError(
                f"{path}: another staging service listens there; end it, or name "
                "another folder for the sockets"
            )


def _made(config: Config, name: str, path: str) -> socket.socket:
    """No user can connect before the mode and the owner are what they shall be."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    is_public = name == USER_SOCKET and config.is_site
    before = os.umask(0o777)
    try:
        listening.bind(path)
    finally:
        os.umask(before)
    if name == CONTROL_SOCKET and config.is_site:
        os.chown(path, config.control_users[-1], -1)
    os.chmod(path, 0o666 if is_public else 0o600)
    listening.listen(_BACKLOG)
    listening.setblocking(False)
    return listening
