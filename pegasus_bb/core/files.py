"""Small files that must survive a crash: JSON by rename, journals by append.

Standard library only and Python 3.9: this file travels to compute nodes.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.refusals import keep_mode, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# What the read of a note raises where it is missing, or is not one of ours.
UNREADABLE = (OSError, ValueError, TypeError, KeyError)
ENGINE_LOCK = ".engine.lock"  # in a submit directory; held while it runs
_LONGEST_LINE = 256  # bytes that Linux reads for an interpreter
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class _about:  # noqa: N801 - a context manager
    """Let an OSError name ``path``: what failed was a descriptor, or a temporary name
    that the user has never seen."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError):
            error.filename = self._path
            del error.filename2  # None would be printed as a name


def sync_directory(path: str) -> None:
    """Make the entries of directory ``path`` durable."""
    with _about(path):
        _sync_directory(path)


def _sync_directory(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_folder(handle)
    finally:
        os.close(handle)


def write_text(path: str, text: str, mode: int = 0o644) -> None:
    """Put ``text`` under ``path`` whole or not at all, durably.

    Raises OSError with the name ``path``.
    """
    write_bytes(path, _encoded(text), mode)


def write_bytes(path: str, data: bytes, mode: int = 0o644) -> None:
    """As write_text."""
    with _about(path):
        _put(path, data, mode, os.replace)


def create_text(path: str, text: str) -> bool:
    """Put ``text`` under ``path`` whole and durably, unless something is there; whether
    it was done. Of several that try at once, one does it.

    Raises OSError with the name ``path``, also where files cannot have two names.
    """
    with _about(path):
        try:
            _put(path, _encoded(text), 0o644, _link)
        except FileExistsError:
            return False
        return True


def _link(part: str, path: str) -> None:
    os.link(part, path)
    os.unlink(part)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _put(path: str, data: bytes, mode: int, name: Callable[[str, str], None]) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    # Not by tempfile, which takes 3 ms to load: each job writes such a file. Names of
    # nodes leave room for no longer one (planner/builtin/executable.py).
    part = f"{folder}/.{os.path.basename(path)}.{os.urandom(4).hex()}.part"
    handle = os.open(part, _NEW, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            keep_mode(out.fileno(), mode)
            os.fsync(out.fileno())
        name(part, path)
    except BaseException:
        unlink_if_there(part)
        raise
    sync_directory(folder)


def make_folder_of(path: str) -> None:
    """Make the folder that ``path`` is in, if it is not there. Raises OSError."""
    os.makedirs(os.path.dirname(path), exist_ok=True)


def named_by_link(path: str, text: str) -> str:
    """The path that link ``path`` with the target ``text`` names. The folders of it are
    real; what has the name may be a link itself."""
    folder, name = os.path.split(os.path.join(os.path.dirname(path), text))
    return os.path.join(os.path.realpath(folder), name)


def unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def write_json(path: str, data: Any, mode: int = 0o644) -> None:
    """Put ``data`` under ``path`` as JSON, whole or not at all, durably."""
    import json

    write_text(path, json.dumps(data, indent=1, sort_keys=False) + "\n", mode)


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file; bytes that are not UTF-8 become surrogates. Raises
    OSError."""
    with open(path, encoding="utf-8", errors="surrogateescape") as source:
        return source.read()


def read_json(path: str) -> Any:
    """The JSON of ``path``. Raises OSError, ValueError."""
    text = read_text(path)
    try:
        return parse_json(text)
    except RecursionError as error:
        raise ValueError(f"{path}: nested too deeply to be one of ours") from error


class _Scanning:
    """What json.loads tells its scanner in C."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


def parse_json(text: str) -> Any:
    """As json.loads. A file of ours needs only the scanner, and to import json takes as
    long as half a start."""
    try:
        from _json import make_scanner

        settings: Any = _Scanning
        value, end = make_scanner(settings)(text, 0)
        if not text[end:].strip(" \n"):
            return value
    except (ImportError, StopIteration):  # blanks come first, or it is no JSON
        pass
    import json

    return json.loads(text)


def append_json(path: str, entry: dict[str, Any]) -> None:
    """Add one line to a journal that several processes write, durably.

    Raises as ``append_all``.
    """
    append_all(path, [entry])


def append_all(path: str, entries: Iterable[dict[str, Any]]) -> None:
    """Add lines to a journal that several processes write, all of them durably.

    A line torn by a crash is closed off by the next writer and skipped by readers.
    Raises OSError with the name ``path`` where they are not there whole, also on a file
    system that took a part.
    """
    with _about(path):
        _append(path, entries)


def _append(path: str, entries: Iterable[dict[str, Any]]) -> None:
    import json

    # flock belongs to this opening of the file. lockf would belong to the process: it
    # keeps no other thread out, and ends when any thread closes the same file.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        end = os.lseek(handle, 0, os.SEEK_END)
        torn = end > 0 and os.pread(handle, 1, end - 1) != b"\n"
        lines = "".join(json.dumps(entry) + "\n" for entry in entries)
        data = memoryview((("\n" if torn else "") + lines).encode())
        while data:  # a file system that gets full takes a part, then says so
            data = data[os.write(handle, data) :]
        os.fsync(handle)
        if not end:
            sync_directory(os.path.dirname(os.path.abspath(path)))
    finally:
        os.close(handle)


def read_journal(
    path: str, lost: Callable[[int], None] = lambda number: None
) -> Iterator[dict[str, Any]]:
    """Every whole line of a journal; none where there is no journal yet.

    ``lost`` hears the number of each line that says something unreadable.
    """
    if not os.path.exists(path):
        return
    import json

    with open(path, encoding="utf-8", errors="surrogateescape") as source:
        for number, line in enumerate(source, start=1):
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # torn, or a hundred thousand `[`
                entry = None
            if isinstance(entry, dict):
                yield entry
            elif line.strip():
                lost(number)


def await_lock(
    handle: int,
    patience: float,
    pause: float = 0.01,
    sleep: Callable[[float], None] = time.sleep,
    kind: int = fcntl.LOCK_EX,
) -> None:
    """Take the lock of an open file; it goes when ``handle`` is closed. ``kind``:
    LOCK_SH where the caller only reads.

    Raises BlockingIOError if another process holds it for ``patience`` seconds, OSError
    if the file system cannot lock. Asks every ``pause`` seconds.
    """
    for left in range(int(patience / pause), -1, -1):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if not left:
                raise
        sleep(pause)


def lock_holder(path: str) -> str:
    """Who holds the lock file ``path`` now, in words; empty where no process does."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return ""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return ""
    except BlockingIOError:
        return os.read(handle, 300).decode(errors="replace").strip() or "an engine"
    except OSError:  # a file system without locks: no process has one
        return ""
    finally:
        os.close(handle)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file, as far as this user is let look; pathlib raises where a
    folder above it is closed to him, or the path is too long."""
    return stat.S_ISREG(_mode(path))


def is_dir(path: str | os.PathLike[str]) -> bool:
    """The same of a folder."""
    return stat.S_ISDIR(_mode(path))


def is_there(path: str | os.PathLike[str]) -> bool:
    """The same of anything."""
    return _mode(path) != 0


def is_on_root(path: str | os.PathLike[str]) -> bool:
    """Whether it is there, on the root file system of this machine."""
    try:
        return os.stat(path).st_dev == os.stat("/").st_dev
    except (OSError, ValueError):
        return False


def _mode(path: str | os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError):
        return 0


def missing_interpreter(script: str) -> str:
    """The program on the #! line of ``script`` if that is not there; else empty. The
    end of a line of Windows counts as a part of it, as for the kernel."""
    if not is_file(script):  # to open a FIFO would wait for a writer
        return ""
    try:
        with open(script, "rb") as source:
            first = source.readline(_LONGEST_LINE).decode(errors="replace")
    except OSError:
        return ""
    name = first[2:].strip(" \t\n").replace("\t", " ").partition(" ")[0]
    return name if first.startswith("#!") and name and not is_there(name) else ""
