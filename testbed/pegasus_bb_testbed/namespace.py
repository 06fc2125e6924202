"""Namespaces: a holder process, what runs inside, and the end of both.

Processes, mounts, host name and network are the testbed's own. When the holder (process
1 inside) is killed, Linux ends every process inside and the mounts with the last.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import read_json, write_json
from pegasus_bb.core.process import Finished, ask, start
from pegasus_bb_testbed.home import Home

_KINDS = ("--mount", "--pid", "--uts", "--ipc", "--net")
# A chroot is left by what enters a mount namespace, and a root that is no mount cannot
# be made private.
_NEW_ROOT = """
mount --rbind "$0" "$0" && cd "$0" && pivot_root . mnt && umount -l mnt && exec "$@"
"""
_AT_NEW_ROOT = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
_AT_NEW_ROOT += [_NEW_ROOT]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def check_namespaces() -> None:
    """Raises UsageError where this machine allows no namespaces."""
    answer = ask(["unshare", *_KINDS, "--fork", "true"])
    if answer.status != 0:
        raise UsageError(
            f"this machine allows no namespaces ({answer.err.strip()}); a "
            "container needs --privileged for a testbed"
        )


def hold(home: Home, shares: Sequence[Path], life: int = -1) -> int:
    """Start the holder and give back its process id, once its mounts are made.

    ``life``: the end of a pipe; the holder ends when the other end is closed.
    """
    home.environ.unlink(missing_ok=True)  # of one that was killed
    ready, writing = os.pipe()
    descriptors = [str(writing), str(life)]
    holder = [sys.executable, "-I", "-m", "pegasus_bb_testbed.holder", *descriptors]
    words = ["unshare", *_KINDS, "--fork", "--propagation", "private", "--", *holder]
    with (home.folder / "holder.log").open("wb") as log:
        process = start(
            [*words, str(home.root), *(str(share) for share in shares)],
            stdout=log.fileno(),
            stderr=log.fileno(),
            new_session=True,
            pass_fds=(writing,) if life < 0 else (writing, life),
        )
    os.close(writing)
    answer = os.read(ready, 5)  # not up to the end: unshare keeps the pipe open
    os.close(ready)
    if answer != b"ready":
        process.wait()
        said = (home.folder / "holder.log").read_text(errors="replace")
        raise PegasusBBError(f"the namespaces cannot be made: {said.strip()[-600:]}")
    pid = int(_children(process.pid)[0])
    write_json(str(home.state), {"pid": pid, "started": start_time(pid)})
    return pid


def holder_of(home: Home) -> int | None:
    """The holder's process id while it lives; numbers used again are told apart."""
    try:
        state = read_json(str(home.state))
        pid = int(state["pid"])
        return pid if start_time(pid) == state["started"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def note_whole(home: Home) -> None:
    write_json(str(home.state), {**read_json(str(home.state)), "whole": True})


def is_half(home: Home) -> bool:
    """Whether an `up` was killed before everything inside was started."""
    return holder_of(home) is not None and "whole" not in read_json(str(home.state))


def release(home: Home) -> None:
    pid = holder_of(home)
    if pid is not None:
        # Its first thread may be gone while another still ends the rest of them.
        marks = {each: start_time(each) for each in (pid, *processes(pid))}
        os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 30
        while any(mark and start_time(each) == mark for each, mark in marks.items()):
            if time.monotonic() > until:
                raise PegasusBBError(f"process {pid} holds the testbed and stays")
            time.sleep(0.05)
    home.state.unlink(missing_ok=True)
    home.environ.unlink(missing_ok=True)


def inside(
    home: Home,
    argv: Sequence[str],
    user: str = "root",
    folder: str = "/",
    *,
    root: Sequence[str] = ("chroot",),
) -> list[str]:
    """The words that run ``argv`` in the testbed as ``user`` in ``folder``; ``root``
    are those that enter its root file system.

    Raises PegasusBBError where no testbed is up.
    """
    pid = holder_of(home)
    if pid is None:
        raise PegasusBBError("this testbed is not up: give `up` with the same options")
    added = _environ(home)
    environ: Mapping[str, str] = {
        **added,
        "HOME": "/root" if user == "root" else f"/home/{user}",
        "USER": user,
        "LOGNAME": user,
        "PATH": ":".join([*filter(None, [added.get("PATH")]), _PATH]),
        "LANG": "C.UTF-8",
        "TERM": os.environ.get("TERM", "dumb"),
    }
    return [
        "nsenter",
        f"--target={pid}",
        *_KINDS,
        "--",
        *root,
        str(home.root),
        "setpriv",
        f"--reuid={user}",
        f"--regid={user}",
        "--init-groups",
        "env",
        "-i",
        f"--chdir={folder}",
        *(f"{key}={value}" for key, value in environ.items()),
        *argv,
    ]


def call_at_new_root(home: Home, argv: Sequence[str]) -> Finished:
    """Like ``call``, in a mount namespace whose root is that of the testbed: what
    enters a namespace that ``argv`` makes stays in the testbed."""
    return ask(inside(home, argv, root=_AT_NEW_ROOT), timeout=60.0)


def _environ(home: Home) -> dict[str, str]:
    try:
        return dict(read_json(str(home.environ)))
    except FileNotFoundError:
        return {}


def call(home: Home, argv: Sequence[str], timeout: float = 60.0) -> Finished:
    return ask(inside(home, argv), timeout=timeout)


def processes(pid: int) -> list[int]:
    """The numbers of all processes inside, as this process sees them."""
    mine = _namespace(pid)
    paths = Path("/proc").glob("[0-9]*")
    return [int(path.name) for path in paths if _namespace(path.name) == mine]


def mounted_inside(home: Home, folder: Path) -> list[str]:
    """The mount points below ``folder`` in the testbed, as the host names them."""
    return mounted_below(folder, str(holder_of(home)))


def mounted_below(folder: Path, process: str = "self") -> list[str]:
    lines = Path(f"/proc/{process}/mountinfo").read_text().splitlines()
    points = (line.split()[4] for line in lines)
    return [point for point in points if Path(point).is_relative_to(folder)]


def _namespace(pid: int | str) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def start_time(pid: int) -> str:
    """The start time of a living process, in clock ticks since the boot."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return "" if fields[0] in "ZX" else fields[19]
    except OSError:
        return ""
