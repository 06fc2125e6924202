"""Koo et al.'s algorithm 2: each workflow (their job) gets a pool, here a device."""

from __future__ import annotations

from array import array
from heapq import heappop, heappush

from pegasus_bb_lab.flash.stream_table import StreamTable
from pegasus_bb_lab.flash.trace import Files, Trace


def to_pools(files: Files, pools: int) -> bytes:
    """The pool of each file: an idle one for its workflow, else one that its user is
    not on, else the least used."""
    ends = _ends(files)
    users: list[list[int]] = [[] for _ in range(pools)]  # of each pool, a job each
    running: list[tuple[int, int, int]] = []  # end, pool, user
    chosen: dict[int, int] = {}
    for file, workflow in enumerate(files.workflow):
        if workflow in chosen:
            continue
        while running and running[0][0] <= files.opened[file]:
            _, pool, user = heappop(running)
            users[pool].remove(user)
        user = files.user[file]
        pool = min(
            range(pools),
            key=lambda pool: (user in users[pool], len(users[pool])),
        )
        users[pool].append(user)
        heappush(running, (ends[workflow], pool, user))
        chosen[workflow] = pool
    return bytes(chosen[workflow] for workflow in files.workflow)


def to_streams(files: Files, pools: bytes, streams: int) -> bytes:
    """Each pool has streams of its own, by user."""
    tables = {pool: StreamTable(streams) for pool in set(pools)}
    pairs = zip(pools, files.user, strict=True)
    return bytes(tables[pool].open(user) for pool, user in pairs)


def events_of(trace: Trace, pools: bytes, pool: int) -> array[int]:
    """What happens in one pool."""
    here = (
        event
        for event in trace.events
        if pools[event if event >= 0 else -event - 1] == pool
    )
    return array("i", here)


def _ends(files: Files) -> dict[int, int]:
    """When the last file of each workflow is deleted."""
    found: dict[int, int] = {}
    for workflow, deleted in zip(files.workflow, files.deleted, strict=True):
        found[workflow] = max(deleted, found.get(workflow, 0))
    return found
