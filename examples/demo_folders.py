"""Where the demo keeps things: its own folder, and the fastest storage there is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARKER = ".pegasus-bb-demo.json"  # a folder with it was made by the demo
CHECKOUT = Path(__file__).resolve().parent.parent  # whose demos these are
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
_BLOCK = 1 << 20


class DemoError(Exception):
    """The demo cannot go on; the text says what would do."""


@dataclass(frozen=True)
class Storage:
    """The folder that plays the burst buffer, and what it really is."""

    path: Path
    what: str  # for the reader
    same_disk: bool  # whether the PFS's scratch lies on the same disk


def fresh_folder(folder: Path) -> bool:
    """An empty ``folder`` with our marker; an older one goes, if it is ours. Whether
    one went."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise DemoError(f"{folder} is not a folder: move it away")
    if folder.exists() and not _is_ours(folder) and any(folder.iterdir()):
        raise DemoError(
            f"{folder} was not made by the demo (no {MARKER} in it), so it is not "
            "removed: move it away, or name another with --demo-dir"
        )
    _remove_storage_of(folder)
    went = folder.exists()
    if went:
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    _mark(folder, folder)
    return went


def fast_storage(folder: Path, need: int) -> Storage:
    """A new folder for ``need`` bytes on the fastest storage, for the demo there."""
    room = shared_memory_room()
    if room >= need:
        path = Path(tempfile.mkdtemp(prefix=_prefix(), dir=SHARED_MEMORY))
        storage = Storage(path, f"memory (tmpfs at {SHARED_MEMORY})", same_disk=False)
    else:
        path = folder / "tier"
        path.mkdir()
        why = f"{SHARED_MEMORY} has no room for {need >> 20} MiB"
        storage = Storage(path, f"a folder on the same disk ({why})", same_disk=True)
    _mark(path, folder)
    return storage


def shared_memory_room(
    mounts: Path = Path("/proc/self/mounts"), memory: Path = Path("/proc/meminfo")
) -> int:
    """Bytes that a tmpfs can take while half of the free memory stays free."""
    if not _is_tmpfs(mounts) or not os.access(SHARED_MEMORY, os.W_OK):
        return 0
    found = os.statvfs(SHARED_MEMORY)
    return min(found.f_bavail * found.f_frsize, _available(memory) // 2)


def _is_tmpfs(mounts: Path) -> bool:
    lines = [line.split() for line in mounts.read_text().splitlines()]
    return any(line[1:3] == [str(SHARED_MEMORY), "tmpfs"] for line in lines)


def _available(memory: Path) -> int:
    for line in memory.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def remove_storage(storage: Storage) -> None:
    """Give the folder back, once the runs no longer need it."""
    if _is_ours(storage.path):
        shutil.rmtree(storage.path)


def read_once(folder: Path, leave_out: set[str]) -> int:
    """Read every file below ``folder`` so that it is in the page cache; bytes read.

    ``leave_out`` are the names in ``folder`` that are not looked into.
    """
    size = 0
    for path in _files(folder):
        if path.relative_to(folder).parts[0] not in leave_out:
            size += sum(len(block) for block in _blocks(path))
    return size


def digests(folder: Path) -> dict[str, str]:
    """Path below ``folder`` -> sha256 of the file there."""
    found = {}
    for path in _files(folder):
        digest = hashlib.sha256()
        for block in _blocks(path):
            digest.update(block)
        found[str(path.relative_to(folder))] = digest.hexdigest()
    return found


def differences(one: Path, other: Path) -> list[str]:
    """What is not the same in two folders of results, a sentence each."""
    left, right = digests(one), digests(other)
    if not left and not right:
        return [f"there is no file in {one} nor in {other}"]
    said = [f"{name} is only in {one}" for name in left.keys() - right.keys()]
    said += [f"{name} is only in {other}" for name in right.keys() - left.keys()]
    both = left.keys() & right.keys()
    said += [f"{name} has other bytes" for name in both if left[name] != right[name]]
    return sorted(said)


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if path.is_file():
                yield path


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            yield block


def _mark(folder: Path, demo: Path) -> None:
    facts = {
        "made by": "make demo",
        "demo": str(demo),
        "checkout": str(CHECKOUT),
        "pid": os.getpid(),
    }
    (folder / MARKER).write_text(json.dumps(facts) + "\n")


def _is_ours(folder: Path) -> bool:
    marker = folder / MARKER
    return marker.is_file() and not marker.is_symlink()


def _prefix() -> str:
    return f"pegasus-bb-demo-{os.getuid()}-"


def remove_left_overs() -> list[str]:
    """Remove what demos of this checkout have left on the fast storage.

    Returns a sentence for each folder: removed, or why not.
    """
    said = []
    for path in _on_fast_storage():
        facts = _facts(path)
        if facts.get("checkout") != str(CHECKOUT):
            continue
        pid = facts.get("pid")
        if isinstance(pid, int) and Path(f"/proc/{pid}").exists():
            said.append(f"{path} stays: a demo is at it (process {pid})")
        else:
            shutil.rmtree(path)
            said.append(f"{path} is removed")
    return said


def _remove_storage_of(folder: Path) -> None:
    """What earlier demos in ``folder`` have left on the fast storage."""
    for path in _on_fast_storage():
        if _facts(path).get("demo") == str(folder):
            shutil.rmtree(path)


def _on_fast_storage() -> list[Path]:
    """This user's folders that look like a demo's."""
    found = SHARED_MEMORY.glob(f"{_prefix()}*")
    return [path for path in found if path.lstat().st_uid == os.getuid()]


def _facts(storage: Path) -> dict[str, object]:
    """What the marker says; nothing where there is none."""
    try:
        facts = json.loads((storage / MARKER).read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
