"""Which jobs can be one job of the batch system: those with the same profiles."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.document import plain
from pegasus_bb.model.workflow import Job

_NAMESPACES = ("pegasus", "env", "condor", "dagman")
# Run times are added up; labels are for the planner's own clusters.
_ADDED = ("runtime", "maxwalltime", "label")
_OURS = ("bb.", "clusters.")  # begin keys that no job of the batch system has
_AMOUNTS = ("cores", "nodes", "ppn", "gpus", "memory", "diskspace")  # the most counts
_OF_ONE_JOB = {("dagman", key) for key in ("PRE", "POST", "ABORT-DAG-ON")}
_Profiles = frozenset[tuple[str, str, str]]


class ProfilesOfChains:
    """The profiles that all jobs of a chain have in common.

    A cluster has those of its first task, and the most cores and memory of any. With
    ``on`` these amounts may differ; else none of the jobs asks for more than its own.
    """

    def __init__(self, given: PlanningInput, site: str) -> None:
        self._given = given
        self._site = site
        amounts = _AMOUNTS if given.settings.chains == "on" else ()
        self._left_out = {("pegasus", key) for key in (*_ADDED, *amounts)}
        self._known: dict[str, _Profiles] = {}

    def are_alike(self, one: str, other: str) -> bool:
        return self._of(one) == self._of(other)

    def _of(self, ident: str) -> _Profiles:
        if ident not in self._known:
            job = self._given.workflow.jobs[ident]
            self._known[ident] = frozenset(self._settled(job))
        return self._known[ident]

    def _settled(self, job: Job) -> Iterator[tuple[str, str, str]]:
        """Yield what counts for ``job``: its own profiles before those of its
        program. One with a script of its own is like no other."""
        values: dict[tuple[str, str], str] = {}
        programs = self._given.catalogs.transformations
        for profiles in job.all_profiles(programs, self._site):
            for space in _NAMESPACES:
                for key, value in (profiles.get(space) or {}).items():
                    values.setdefault((space, key), plain(value))
        if not _OF_ONE_JOB.isdisjoint(values):
            yield "job", "id", job.id
        for (space, key), value in values.items():
            if (space, key) not in self._left_out and not key.startswith(_OURS):
                yield space, key, value
