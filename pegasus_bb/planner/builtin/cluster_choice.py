"""Which jobs run in one node, as `--cluster` says.

As in Pegasus, `horizontal` joins jobs of one transformation and one level, and the
profiles clusters.num, else clusters.size, say how many; without them it joins none.
`label` joins jobs whose profile `label` is the same, `whole` joins all. Several
techniques are used one after the other, each on the jobs that are left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice

from pegasus_bb.core.errors import CatalogError, UnplacedError
from pegasus_bb.model.dag.roles import node_word
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.builtin.executable import Draft
from pegasus_bb.planner.builtin.profiles import merge

_LABEL_KEY = "pegasus.clusterer.label.key"
_FORMER_RUNTIME = "job.runtime"  # its deprecated name, which Pegasus still reads
_PREFERENCE = "pegasus.clusterer.preference"
_AGGREGATORS = ("pegasus.job.aggregator", "pegasus.clusterer.job.aggregator")
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
    if not clusters:
        return [
            f"{option}: no clusters: horizontal needs a profile clusters.size or "
            "clusters.num, and label needs two jobs with the same label"
        ]
    tasks = sum(len(node.tasks) for node in clusters)
    number = "1 cluster" if len(clusters) == 1 else f"{len(clusters)} clusters"
    notes = [f"{option}: {tasks} jobs run in {number}"]
    alone = [job for job in draft.on_site if _is_reserved(draft, job)]
    if alone:
        notes.append(
            f"{len(alone)} jobs with a reservation of their own stay out of clusters"
        )
    aggregator = _aggregator(draft)
    if aggregator not in ("", "seqexec"):
        notes.append(
            f"job.aggregator {aggregator}: the built-in planner runs the tasks of a "
            "cluster one after the other, on one core"
        )
    return notes


def _aggregator(draft: Draft) -> str:
    properties = draft.catalogs.properties
    named = [properties[key] for key in _AGGREGATORS if key in properties]
    for node in draft.jobs.values():
        if node.tasks:
            named.append(node.profiles.get("pegasus", {}).get("job.aggregator", ""))
    return next((name.strip().lower() for name in named if name), "")


def _candidates(draft: Draft) -> Iterator[Job]:
    """The jobs of the site, parents first."""
    here = {job.id: job for job in draft.on_site}
    for ident in draft.graph.order:
        if ident in here and not _is_reserved(draft, here[ident]):
            yield here[ident]


def _is_reserved(draft: Draft, job: Job) -> bool:
    """Whether it works in a reservation beside the shared one: mode hybrid."""
    run = draft.run
    if run.request is None or run.placement is None:
        return False
    return job.id in run.placement.job_reservations


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
    first = same[0]
    if draft.catalogs.properties.get(_PREFERENCE, "").lower() == "runtime":
        return _by_runtime(draft, same)
    number = _number(draft, first, "clusters.num")
    if number is not None:
        least, larger = divmod(len(same), int(number))
        sizes = [least + 1] * larger + [least] * (int(number) - larger)
    else:
        size = int(_number(draft, first, "clusters.size") or 1)
        sizes = [size] * -(-len(same) // size)
    rest = iter(same)
    return [list(islice(rest, size)) for size in sizes if size > 1]


def _by_runtime(draft: Draft, same: list[Job]) -> list[list[Job]]:
    """clusters.maxruntime: as many as fit, the longest first. Else clusters.num (1)
    of about the same length."""
    runtime = {job.id: _runtime(draft, job) for job in same}
    longest_first = sorted(same, key=lambda job: -runtime[job.id])
    most = _number(draft, same[0], "clusters.maxruntime")
    number = 0 if most else int(_number(draft, same[0], "clusters.num") or 1)
    bins: list[list[Job]] = [[] for _ in range(number)]
    used = [0.0] * number
    for job in longest_first:
        length = runtime[job.id]
        if most is None:
            place = used.index(min(used))
        else:
            room = (at for at, time in enumerate(used) if time + length <= most)
            place = next(room, len(bins))
        if place == len(bins):
            bins.append([])
            used.append(0.0)
        bins[place].append(job)
        used[place] += length
    return bins


def _runtime(draft: Draft, job: Job) -> float:
    found = _number(draft, job, "runtime") or _number(draft, job, _FORMER_RUNTIME)
    if found is None:
        raise draft.workflow.document.error(
            f"{_PREFERENCE} = runtime needs the run time of each job, and job {job.id} "
            f"({job.transformation}) has none",
            ["jobs", job.index],
            would_do="a profile pegasus: runtime, in seconds, of the job or its "
            "transformation",
        )
    return found


def _number(draft: Draft, job: Job, key: str) -> float | None:
    """The number above zero that a profile says; None without one."""
    text = _profile(draft, job, key)
    if not text:
        return None
    try:
        value = float(text) if "runtime" in key else int(text)
    except ValueError:
        value = 0
    if not 0 < value < 10**9:
        raise _misplaced(
            draft,
            job,
            UnplacedError(
                f"{key} is a number above zero",
                ("profiles", "pegasus", key),
                text,
                f"{key}: 10",
            ),
        )
    return value


def _profile(draft: Draft, job: Job, key: str) -> str:
    """The profile of namespace pegasus, or the property; empty if there is none."""
    site = draft.catalogs.sites.site(draft.site).profiles
    own = job.data.get("profiles") or {}
    try:
        found = merge(site, draft.program_of(job).profiles, own).get("pegasus", {})
    except UnplacedError as error:
        raise _misplaced(draft, job, error) from error
    return found.get(key, draft.catalogs.properties.get(f"pegasus.{key}", "")).strip()


def _misplaced(draft: Draft, job: Job, error: UnplacedError) -> CatalogError:
    return draft.places.error(error, draft.site, job.transformation, job)


def _levels(
    draft: Draft, clusters: dict[str, Sequence[Job]], local_jobs: Set[str]
) -> dict[str, int]:
    """The level of each job's node: the longest path to it, in jobs of the site."""
    names = draft.names
    parents: dict[str, set[str]] = {name: set() for name in names.values()}
    children: dict[str, set[str]] = {name: set() for name in names.values()}
    for ident, below in draft.graph.children.items():
        for child in below:
            if names[child] != names[ident]:
                parents[names[child]].add(names[ident])
                children[names[ident]].add(names[child])
    local = {names[ident] for ident in local_jobs}
    level: dict[str, int] = {}
    waits = {name: len(above) for name, above in parents.items()}
    ready = deque(name for name, number in waits.items() if not number)
    while ready:
        name = ready.popleft()
        above = max((level[parent] for parent in parents[name]), default=0)
        level[name] = above + (name not in local)
        for child in children[name]:
            waits[child] -= 1
            if not waits[child]:
                ready.append(child)
    if len(level) < len(parents):
        raise _waits_for_itself(draft, clusters, children)
    return {ident: level[name] for ident, name in names.items()}


def _waits_for_itself(
    draft: Draft, clusters: dict[str, Sequence[Job]], children: dict[str, set[str]]
) -> CatalogError:
    """The error, with a job that is between the jobs of a cluster."""
    for name, jobs in clusters.items():
        after = _reachable(name, children)
        if name not in after:
            continue
        others = (
            job
            for job in draft.workflow.jobs.values()
            if draft.names[job.id] in after - {name}
            and name in _reachable(draft.names[job.id], children)
        )
        other = next(others)
        return draft.workflow.document.error(
            f"the cluster of {', '.join(job.id for job in jobs[:5])} would wait for "
            f"itself: job {other.id} ({other.transformation}) is outside, reads from "
            "one of its jobs, and another one waits for it",
            ["jobs", other.index],
            would_do="the same label for that job, or another one for the jobs after "
            "it; or no --cluster",
        )
    raise AssertionError("a workflow without a cycle has one only through a cluster")


def _reachable(name: str, children: dict[str, set[str]]) -> set[str]:
    """The nodes below ``name``; ``name`` itself only if it waits for itself."""
    seen: set[str] = set()
    left = [name]
    while left:
        for child in children[left.pop()] - seen:
            seen.add(child)
            left.append(child)
    return seen
