"""What lies below places of nodes, and who copies it where several nodes have results.

As a program of its own, which node_attendant.py starts, it looks with the rights of the
job's user: it becomes the user before it opens anything, and prints JSON.

A result may be on any of the job's nodes. A folder gets the files of all of them. A
file that two nodes have must be the same on both, else nothing is copied.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Sequence

from pegasus_bb.runtime.stager_client.dataspace import (
    Dataspace,
    open_parent,
    parse_place,
)
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.onefile import digest_file
from pegasus_bb.stager.capabilities import become

_NICE = 15  # as of workers: other jobs may compute here
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC

Files = dict[str, str]  # digest by path; a file itself has the path ""
Copy = Sequence[str]  # source, destination
Found = dict[str, dict[str, Files]]  # by node, by source; absent: it is not there


def main(uid: str, root: str) -> None:
    """List as user ``uid``. ``root``: the folder of the node. stdin has the places."""
    become(int(uid))
    os.nice(_NICE)
    space = Dataspace("node", root)
    found: dict[str, Files] = {}
    for source in json.load(sys.stdin):
        try:
            found[source] = _files(space, source)
        except FileNotFoundError:
            continue
        except (OSError, Refused) as error:
            sys.exit(f"{source}: {getattr(error, 'strerror', None) or error}")
    print(json.dumps(found))


def _files(space: Dataspace, source: str) -> Files:
    parts = parse_place(source, {space.name: space}).parts
    parent = open_parent(space, parts, make=False)
    name = parts[-1]
    found = parent.lstat(name)
    if not stat.S_ISDIR(found.st_mode):
        return {"": _digest(parent.fd, name)}
    return dict(_below(os.open(name, _OPEN, dir_fd=parent.fd)))


def _below(top: int) -> Iterator[tuple[str, str]]:
    for path, folders, names, folder in os.fwalk(".", dir_fd=top, onerror=_fail):
        for name in [*names, *folders]:  # a link to a folder is among these
            digest = _digest(folder, name)
            if digest:
                yield os.path.normpath(os.path.join(path, name)), digest


def _fail(error: OSError) -> None:
    raise error


def _digest(folder: int, name: str) -> str:
    """Of a file, whether it has holes or not; a link counts as where it leads; a folder
    has none."""
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return "link:" + os.readlink(name, dir_fd=folder)
    if not stat.S_ISREG(mode):
        return "" if stat.S_ISDIR(mode) else "special"
    return digest_file(f"/proc/self/fd/{folder}/{name}", SHA256.name)


def divide(found: Found, copies: Sequence[Copy]) -> dict[str, list[Copy]]:
    """Return what each node copies. A source on no node is left to the first one,
    which says so."""
    todo: dict[str, list[Copy]] = {node: [] for node in found}
    for copy in copies:
        having = [node for node in found if copy[0] in found[node]]
        for node in having or list(found)[:1]:
            todo[node].append(copy)
    return todo


def conflicts(found: Found, copies: Sequence[Copy]) -> list[str]:
    """Return a sentence for each file that is not the same on all nodes with it."""
    why = []
    for source, _ in copies:
        seen: dict[str, tuple[str, str]] = {}  # (node, digest) by path
        for node, sources in found.items():
            for path, digest in sources.get(source, {}).items():
                other, same = seen.setdefault(path, (node, digest))
                if same != digest:
                    where = f"{source}/{path}" if path else source
                    mend = "let each node write names of its own"
                    why.append(f"{where} differs on {other} and {node}: {mend}")
        if "" in seen and len(seen) > 1:
            why.append(f"{source} is a file on {seen[''][0]} and a folder elsewhere")
    return why
