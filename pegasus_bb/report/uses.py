"""What calls on files moved, file by file -> FileUses, each file once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pegasus_bb.model.run import FileUse
from pegasus_bb.report.layers import merge_layers

# Programs, libraries and devices: no files of a workflow. Darshan leaves out the like,
# but not what lives elsewhere: a Python of the user's.
_SYSTEM = ("/bin/", "/dev/", "/etc/", "/lib", "/proc/", "/sbin/", "/sys/", "/usr/")
_SOFTWARE = ("/site-packages/", "/dist-packages/", "/__pycache__/")
_YET = "/dev/shm/"  # noqa: S108 - memory, and a tier of some sites


def counted(attributes: Mapping[str, str]) -> Iterator[FileUse]:
    """Yield what Kickstart says of one file under -z or -Z, if it says anything.

    It does not trace copy_file_range, sendfile and mmap: a zero is no count.
    """
    path = attributes.get("name", "")
    read = _count(attributes, "bread")
    written = _count(attributes, "bwrite")
    if (read or written) and is_data(path):
        yield FileUse(
            name=path,
            path=path,
            size=_count(attributes, "size"),
            output=bool(written),
            bytes_read=read or None,
            bytes_written=written or None,
        )


def _count(attributes: Mapping[str, str], name: str) -> int | None:
    digits = attributes.get(name, "")
    return int(digits) if digits.isdecimal() and len(digits) < 20 else None


def is_data(path: str) -> bool:
    if not path.startswith("/") or any(folder in path for folder in _SOFTWARE):
        return False
    return path.startswith(_YET) or not path.startswith(_SYSTEM)


def with_calls(
    listed: Iterable[FileUse], calls: Iterable[FileUse], cwd: str
) -> tuple[FileUse, ...]:
    """Return ``listed``, with what ``calls`` moved; then files that only calls tell of.

    Below ``cwd``, the run's folder in the scratch, a file's path is its LFN.
    """
    moved: dict[str, FileUse] = {}
    for use in calls:
        before = moved.get(use.path)
        moved[use.path] = use if before is None else _together(before, use)
    known = [_completed(use, moved.pop(use.path, None)) for use in listed]
    more = (_named(use, cwd) for use in moved.values())
    return (*known, *more)


def _completed(use: FileUse, moved: FileUse | None) -> FileUse:
    if moved is None:
        return use
    return use._replace(
        size=moved.size if use.size is None else use.size,
        bytes_read=moved.bytes_read,
        bytes_written=moved.bytes_written,
        layers=moved.layers,
    )


def _together(one: FileUse, other: FileUse) -> FileUse:
    return one._replace(
        size=max((s for s in (one.size, other.size) if s is not None), default=None),
        output=one.output or other.output,
        bytes_read=_sum(one.bytes_read, other.bytes_read),
        bytes_written=_sum(one.bytes_written, other.bytes_written),
        layers=merge_layers([*one.layers, *other.layers]),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _named(use: FileUse, cwd: str) -> FileUse:
    folder = f"{cwd.rstrip('/')}/"
    if not cwd or not use.path.startswith(folder):
        return use
    return use._replace(name=use.path.removeprefix(folder))
