"""Folders come first and go last; a file goes when its last user is done."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.dag import joblists
from pegasus_bb.planner.builtin.draft import Draft
from pegasus_bb.planner.builtin.executable import (
    CLEAN_UP,
    CREATE_DIR,
    LEAF_CLEANUP,
    PlannedJob,
    Program,
)
from pegasus_bb.planner.builtin.names import label_in_names
from pegasus_bb.planner.builtin.stage import site_in_names

NODES_PER_LEVEL = 2


def create_dir(draft: Draft, program: Program) -> str:
    """The node that makes the run's folder, and those that LFNs have in them.

    Everything on the site that waits for nothing else there waits for it.
    """
    name = _scratch_node("create_dir", draft)
    url = f"file://{draft.scratch}"
    below = dict.fromkeys(_folders(draft))
    entries = [joblists.make_directory(draft.site, url)]
    entries += [joblists.make_directory(draft.site, f"{url}/{path}") for path in below]
    draft.add(
        PlannedJob(
            name, CREATE_DIR, draft.site, program, CREATE_DIR.priority, entries=entries
        )
    )
    above = {
        child
        for parent, children in draft.children.items()
        if not draft.jobs[parent].detached
        for child in children
    }
    for node in draft.jobs.values():
        if node.name not in above and node.name != name and not node.detached:
            draft.edges([name], node.name)
    return name


def clean_up(draft: Draft, program: Program) -> None:
    """Remove each file when its last user, stage-out included, has ended."""
    level = _exec_levels(draft)
    users = _users(draft)
    units: dict[str, list[str]] = {}  # last user -> files
    for lfn, nodes in users.items():
        last = nodes[0] if len(nodes) == 1 else max(nodes, key=level.__getitem__)
        units.setdefault(last, []).append(lfn)
    waits: dict[str, list[str]] = {}  # clean-up node -> what it waits for
    turn: dict[int, int] = {}
    for last, lfns in units.items():
        number = turn.get(level[last], 0)
        turn[level[last]] = number + 1
        node = _clean_up_node(draft, level[last] + 1, number, program)
        for lfn in lfns:
            node.add(joblists.remove(draft.site, draft.url(lfn), False))
            waits.setdefault(node.name, []).extend(users[lfn])
    for name, nodes in waits.items():
        draft.edges(nodes, name)


def leaf_cleanup(draft: Draft, program: Program) -> None:
    """Remove the run's folder when everything on the site is done."""
    name = _scratch_node("cleanup", draft)
    leaves = [
        node.name
        for node in draft.jobs.values()
        if not node.detached
        and all(
            draft.jobs[child].detached for child in draft.children.get(node.name, ())
        )
    ]
    entries = [joblists.remove(draft.site, f"file://{draft.scratch}", True)]
    role = LEAF_CLEANUP
    draft.add(
        PlannedJob(name, role, draft.site, program, role.priority, entries=entries)
    )
    draft.edges(leaves, name)


def _clean_up_node(
    draft: Draft, level: int, number: int, program: Program
) -> PlannedJob:
    site = site_in_names(draft.site)
    name = f"clean_up_{site}_level_{level}_{number % NODES_PER_LEVEL}"
    if number < NODES_PER_LEVEL:
        draft.add(PlannedJob(name, CLEAN_UP, draft.site, program, CLEAN_UP.priority))
    return draft.jobs[name]


def _exec_levels(draft: Draft) -> dict[str, int]:
    """Levels of nodes, counted from create_dir, 0, and stage-in, 1."""
    level = {draft.names[job.id]: draft.level[job.id] + 1 for job in draft.on_site}
    for lfn, node in draft.results.items():
        level[node] = level[draft.names[draft.graph.producer[lfn]]] + 1
    return level


def _users(draft: Draft) -> dict[str, list[str]]:
    """Each file of scratch and the nodes after which it can go.

    Readers come after the writer, so the writer counts only for a file without readers.
    Results that are not staged out stay.
    """
    users: dict[str, list[str]] = {}
    for job in draft.on_site:
        node = draft.names[job.id]
        for use in job.uses:
            if use.kind == "input":
                users.setdefault(use.lfn, []).append(node)
        for part in draft.jobs[node].program.staged:
            users.setdefault(part.lfn, []).append(node)
    for job in draft.on_site:
        for use in job.uses:
            if use.kind != "output":
                continue
            if use.lfn in draft.results:
                users.setdefault(use.lfn, []).append(draft.results[use.lfn])
            elif use.stage_out:
                users.pop(use.lfn, None)
            elif use.lfn not in users:
                users[use.lfn] = [draft.names[job.id]]
    return users


def _folders(draft: Draft) -> Iterator[str]:
    for job in draft.on_site:
        for use in job.outputs():
            if "/" in use.lfn:
                yield use.lfn.rpartition("/")[0]


def _scratch_node(word: str, draft: Draft) -> str:
    label = label_in_names(draft.context.label)
    return f"{word}_{label}_0_{site_in_names(draft.site)}"
