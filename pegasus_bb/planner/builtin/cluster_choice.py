"""Which jobs run in one node, as `--cluster` says.

As in Pegasus, `horizontal` joins jobs of one transformation and one level, and the
profiles clusters.num, else clusters.size, say how many; without them it joins none.
`label` joins jobs whose profile `label` is the same, `whole` joins all. Several
techniques are used one after the other, each on the jobs that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from graphlib import CycleError, TopologicalSorter
from itertools import islice

from pegasus_bb.core.errors import CatalogError, UnplacedError
from pegasus_bb.core.units import format_count
from pegasus_bb.model.dag.roles import node_word
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.builtin.executable import Draft
from pegasus_bb.planner.builtin.profiles import merge

_LABEL_KEY = "pegasus.clusterer.label.key"
Named = Iterator[tuple[str, Sequence[Job]]]


def join_jobs(draft: Draft, local_jobs: Set[str]) -> dict[str, Sequence[Job]]:
    """Each cluster's node and its jobs, in the order in which they run. The jobs get
    the name and the level of that node.

    Raises CatalogError for a cluster that would wait for itself.
    """
    clusters: dict[str, Sequence[Job]] = {}
    left = {job.id: job for job in _candidates(draft)}
    for technique in draft.run.clusters:
        for name, jobs in list(_TECHNIQUES[technique](draft, left.values())):
            if len(jobs) > 1:
                clusters[name] = jobs
                for job in jobs:
                    del left[job.id]
    if clusters:
        for name, jobs in clusters.items():
            draft.names.update((job.id, name) for job in jobs)
        draft.level.update(_levels(draft, clusters, local_jobs))
    return clusters


def cluster_notes(draft: Draft) -> list[str]:
    """What becomes of --cluster, for the user."""
    if not any(name != "none" for name in draft.run.clusters):
        return []
    clusters = [node for node in draft.jobs.values() if node.tasks]
    option = f"--cluster {','.join(draft.run.clusters)}"
    if draft.run.chains:
        option = option.replace("--cluster label", "--bb-chains")
    if not clusters:
        return [
            f"{option}: no clusters: horizontal needs a profile clusters.size or "
            "clusters.num, and label needs two jobs with the same label"
        ]
    if len(clusters) == len(draft.run.chains):
        return []  # a line of its own tells of these
    tasks = sum(len(node.tasks) for node in clusters)
    number = format_count(len(clusters), "cluster")
    notes = [f"{option}: {tasks} jobs run in {number}"]
    alone = [job for job in draft.on_site if _is_reserved(draft, job)]
    if alone:
        notes.append(
            "not in clusters, with a reservation of their own: "
            f"{format_count(len(alone), 'job')}"
        )
    return notes


def _candidates(draft: Draft) -> Iterator[Job]:
    """The jobs of the site, parents first."""
    here = {job.id: job for job in draft.on_site}
    for ident in draft.graph.order:
        if ident in here and not _is_reserved(draft, here[ident]):
            yield here[ident]


def _is_reserved(draft: Draft, job: Job) -> bool:
    """Whether it works in a reservation beside the shared one: mode hybrid."""
    return draft.run.request is not None and job.id in draft.run.job_reservations


def _horizontal(draft: Draft, jobs: Iterable[Job]) -> Named:
    groups: dict[tuple[int, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((draft.level[job.id], job.transformation), []).append(job)
    for (level, _), same in groups.items():
        parts = _parts(draft, same) if len(same) > 1 else ()
        for number, part in enumerate(parts, 1):
            yield _name(same[0], f"PID{level}_ID{number}"), part


def _label(draft: Draft, jobs: Iterable[Job]) -> Named:
    key = draft.catalogs.properties.get(_LABEL_KEY, "label")
    labelled: dict[str, list[Job]] = {}
    for job in jobs:
        label = _profile(draft, job, key)
        if label:
            labelled.setdefault(label, []).append(job)
    for number, (label, same) in enumerate(labelled.items(), 1):
        yield _name(same[0], f"{label}_ID{number}"), same


def _whole(draft: Draft, jobs: Iterable[Job]) -> Named:
    every = list(jobs)
    if every:
        yield _name(every[0], "whole"), every


def _none(draft: Draft, jobs: Iterable[Job]) -> Named:
    return iter(())


_TECHNIQUES = {
    "horizontal": _horizontal,
    "label": _label,
    "whole": _whole,
    "none": _none,
}


def _name(first: Job, end: str) -> str:
    words = (first.namespace, first.name, first.version)
    return node_word(f"merge_{'-'.join(word for word in words if word)}_{end}")


def _parts(draft: Draft, same: list[Job]) -> list[list[Job]]:
    """The jobs of each cluster. The profiles of the first job count, as in Pegasus."""
    number = _number(draft, same[0], "clusters.num")
    if number:
        least, larger = divmod(len(same), number)
        sizes = [least + 1] * larger + [least] * (number - larger)
    else:
        size = _number(draft, same[0], "clusters.size") or 1
        sizes = [size] * -(-len(same) // size)
    rest = iter(same)
    return [list(islice(rest, size)) for size in sizes if size > 1]


def _number(draft: Draft, job: Job, key: str) -> int:
    """The number above zero that a profile says; 0 without one."""
    text = _profile(draft, job, key)
    if not text:
        return 0
    if not text.isdecimal() or not 0 < int(text) < 10**9:
        what = f"{key} is a number above zero"
        at = ("profiles", "pegasus", key)
        with _placed(draft, job):
            raise UnplacedError(what, at, text, f"{key}: 10")
    return int(text)


def _profile(draft: Draft, job: Job, key: str) -> str:
    """The profile of namespace pegasus, or the property; empty if there is none."""
    sources = draft.site_profiles, draft.program_of(job).profiles, job.profiles
    with _placed(draft, job):
        pegasus = merge(*sources).get("pegasus", {})
    return pegasus.get(key, draft.catalogs.properties.get(f"pegasus.{key}", "")).strip()


def _placed(draft: Draft, job: Job) -> AbstractContextManager[None]:
    return draft.places.placed(draft.site, job.transformation, job)


def _levels(
    draft: Draft, clusters: Mapping[str, Sequence[Job]], local_jobs: Set[str]
) -> dict[str, int]:
    """The level of each job's node: the longest path to it, in jobs of the site."""
    names = draft.names
    parents: dict[str, set[str]] = {name: set() for name in names.values()}
    for ident, below in draft.graph.children.items():
        for child in below:
            if names[child] != names[ident]:
                parents[names[child]].add(names[ident])
    local = {names[ident] for ident in local_jobs}
    level: dict[str, int] = {}
    try:
        for name in TopologicalSorter(parents).static_order():
            above = max((level[parent] for parent in parents[name]), default=0)
            level[name] = above + (name not in local)
    except CycleError as error:
        raise _waits_for_itself(draft, clusters, error.args[1]) from error
    return {ident: level[name] for ident, name in names.items()}


def _waits_for_itself(
    draft: Draft, clusters: Mapping[str, Sequence[Job]], ring: Sequence[str]
) -> CatalogError:
    """The error, with a cluster of the ``ring`` of nodes and a job between its jobs."""
    first = next(place for place, name in enumerate(ring) if name in clusters)
    after = ring[(first + 1) % (len(ring) - 1)]
    other = next(job for job in draft.workflow if draft.names[job.id] == after)
    ids = ", ".join(job.id for job in clusters[ring[first]][:5])
    return draft.workflow.job_error(
        other,
        f"the cluster of {ids} would wait for itself: job {other.id} "
        f"({other.transformation}) is outside, reads from one of its jobs, and another "
        "one waits for it",
        "",
        "the same label for that job, or another one for the jobs after it; "
        "or no --cluster",
    )
