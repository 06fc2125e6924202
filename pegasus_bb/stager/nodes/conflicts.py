"""Results of several nodes with one destination: which node copies what.

A result may be on any of the job's nodes. A folder gets the files of all of them. A
file that two nodes have must be the same on both, else nothing is copied.
"""

from __future__ import annotations

from collections.abc import Sequence

Copy = Sequence[str]  # source, destination
Files = dict[str, str]  # digest by path below a source; the path of a file itself: ""
Found = dict[str, dict[str, Files]]  # by node, by source; absent: it is not there

_SHOWN = 3


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
                    why.append(_sentence(where, other, node))
        if "" in seen and len(seen) > 1:
            why.append(f"{source} is a file on {seen[''][0]} and a folder elsewhere")
    rest = [f"and {len(why) - _SHOWN} more"] if len(why) > _SHOWN else []
    return [*why[:_SHOWN], *rest]


def _sentence(where: str, one: str, other: str) -> str:
    return f"{where} differs on {one} and {other}: let each node write names of its own"
