"""Which jobs may be one chain: one cluster, with one reservation on its node's disk.

A job joins the chain of its parents if it reads files of that chain. Several chains
become one at a job that reads files of all of them, if they wait for the same jobs
outside. So all first jobs of a chain wait for the same jobs, and whatever waits for one
of the chain comes after these: chains never wait for each other in a circle.

A line costs no parallelism: each job but the first has one parent, which has no other
child.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.core.units import format_duration, format_size
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.job_reservations import capacity_maker, temporary_files
from pegasus_bb.decide.sizing import quota_of, wanted_capacity
from pegasus_bb.decide.survey import staged_with
from pegasus_bb.model.document import plain
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Job

_NAMESPACES = ("pegasus", "env", "condor", "dagman")
# Run times are added up; labels are for the planner's own clusters.
_ADDED = ("runtime", "maxwalltime", "label")
_OURS = ("bb.", "clusters.")  # begin keys that no job of the batch system has
_AMOUNTS = ("cores", "nodes", "ppn", "gpus", "memory", "diskspace")  # the most counts
_OF_ONE_JOB = {("dagman", key) for key in ("PRE", "POST", "ABORT-DAG-ON")}
_Settled = frozenset[tuple[str, str, str]]
Found = list[list[str]]  # the ids of the jobs of each chain, in the order of the DAG


@dataclass
class _Growing:
    """A chain while it grows. Bytes, seconds."""

    jobs: list[str]
    waits_for: frozenset[str]  # jobs outside: each of its first ones waits for these
    sizes: dict[str, int]  # of its files on the tier
    size: int  # of all of them
    temporary: int  # of the job that has the most
    seconds: float

    def room_with(self, others: Sequence[_Growing]) -> int:
        """The bytes that it has on the disk with the jobs of ``others``."""
        more: dict[str, int] = {}
        for other in others:
            more.update(other.sizes)
        new = sum(size for lfn, size in more.items() if lfn not in self.sizes)
        return self.size + new + max(each.temporary for each in (self, *others))

    def add(self, other: _Growing) -> None:
        new = (size for lfn, size in other.sizes.items() if lfn not in self.sizes)
        self.size += sum(new)
        self.sizes.update(other.sizes)
        self.jobs += other.jobs
        self.temporary = max(self.temporary, other.temporary)
        self.seconds += other.seconds


class ChainGrowth:
    """The chains of a site's jobs, within limits; ``limits_met`` are those that alone
    kept jobs apart, in order."""

    def __init__(
        self, given: PlanningInput, placement: Placement, times: Mapping[str, float]
    ) -> None:
        """``times``: seconds of every job."""
        tier = placement.tier
        self._given, self._placement = given, placement
        self._graph = given.graph
        self._times = times
        self._place = {ident: n for n, ident in enumerate(self._graph.order)}
        self._profiles = _CommonProfiles(given, tier.site)
        self._programs = staged_with(
            given.workflow, given.catalogs.transformations, tier.site
        )
        self._temporary = temporary_files(given, tier)
        self._capacity = capacity_maker(tier, given.settings)
        self._limit = _least_limit(tier, given.settings)
        self._chain_of: dict[str, _Growing] = {}
        self._refused: set[frozenset[str]] = set()  # chains, by their first jobs
        self.limits_met: dict[str, None] = {}

    def lines(self) -> Found:
        return self.chains(-math.inf)

    def chains(self, longest: float) -> Found:
        """Lines, and chains that run for ``longest`` seconds at most."""
        self._chain_of, self._refused = {}, set()
        for ident in self._graph.order:
            if ident in self._placement.job_reservations:
                self._put(ident, longest)
        found = {id(chain): chain.jobs for chain in self._chain_of.values()}
        chains = (sorted(x, key=self._place.__getitem__) for x in found.values())
        return sorted(
            (chain for chain in chains if len(chain) > 1),
            key=lambda chain: self._place[chain[0]],
        )

    def _put(self, ident: str, longest: float) -> None:
        """Into the chain of its parents, or one of its own."""
        alone = self._alone(ident)
        above = self._above(ident)
        if not (above and self._may_join(above, alone, longest)):
            self._chain_of[ident] = alone
            return
        into, *others = sorted(above, key=lambda chain: -len(chain.jobs))
        for other in (*others, alone):
            into.add(other)
            self._chain_of.update(dict.fromkeys(other.jobs, into))

    def _alone(self, ident: str) -> _Growing:
        job = self._given.workflow.jobs[ident]
        files = self._placement.files
        lfns = *(use.lfn for use in job.uses), *self._programs[job.transformation]
        here = (lfn for lfn in lfns if self._placement.on_tier(lfn))
        sizes = {lfn: files[lfn].size or 0 for lfn in here}
        return _Growing(
            [ident],
            frozenset(self._graph.parents[ident]),
            sizes,
            sum(sizes.values()),
            self._temporary(job),
            self._times[ident],
        )

    def _above(self, ident: str) -> list[_Growing]:
        """The chains of its parents; none if these wait for other jobs than each other,
        or if it reads no file of one of them."""
        chain_of = self._chain_of
        parents = self._graph.parents[ident]
        last = max(parents, key=self._place.__getitem__, default="")
        if last not in chain_of:
            return []
        waits_for = chain_of[last].waits_for
        near = [parent for parent in parents if parent not in waits_for]
        chains = [chain_of[parent] for parent in near if parent in chain_of]
        found = {chain.jobs[0]: chain for chain in chains}
        makers = (maker for maker in self._read_from(ident) if maker in chain_of)
        read = {chain_of[maker].jobs[0] for maker in makers}
        wait_alike = all(chain.waits_for == waits_for for chain in found.values())
        is_whole = len(chains) == len(near) and found.keys() <= read
        return list(found.values()) if wait_alike and is_whole else []

    def _read_from(self, ident: str) -> Iterator[str]:
        """Yield the jobs that make those of its inputs that live on the tier."""
        for use in self._given.workflow.jobs[ident].inputs():
            maker = self._graph.producer.get(use.lfn)
            if maker is not None and self._placement.on_tier(use.lfn):
                yield maker

    def _may_join(
        self, above: Sequence[_Growing], alone: _Growing, longest: float
    ) -> bool:
        (ident,) = alone.jobs
        if not all(self._profiles.are_alike(x.jobs[0], ident) for x in above):
            return False
        seconds = sum(each.seconds for each in (*above, alone))
        most = self._given.settings.chain_time
        if seconds > longest < most and not self._is_line(ident):
            return False
        tried = frozenset(chain.jobs[0] for chain in above)
        if tried in self._refused:  # adding up their files again takes long
            return False
        met = self._limit_met([*above, alone])
        if met:
            self.limits_met[met] = None
            if len(above) > 1 and self._limit_met(above):
                self._refused.add(tried)
        return not met

    def _is_line(self, ident: str) -> bool:
        parents = self._graph.parents[ident]
        return len(parents) == 1 and len(self._graph.children[parents[0]]) == 1

    def _limit_met(self, parts: Sequence[_Growing]) -> str:
        """The limit that keeps them apart; empty if none does."""
        longest = self._given.settings.chain_time
        if sum(each.seconds for each in parts) > longest:
            return f"--bb-chain-time ({format_duration(longest)})"
        if self._limit is None:
            return ""
        most, name = self._limit
        largest, *others = sorted(parts, key=lambda each: -len(each.sizes))
        need = largest.room_with(others)
        fits = max(need, self._capacity(need)) <= most  # a given one is no larger
        return "" if fits else f"{name} ({format_size(most)})"


def _least_limit(tier: Tier, settings: Settings) -> tuple[int, str] | None:
    """The bytes that a chain may have on its disk, and what says so."""
    limits = (
        (quota_of(tier), f"the quota of tier {tier.name}"),
        (tier.largest, f"the key largest of tier {tier.name}"),
        (wanted_capacity(tier, settings), "the given capacity"),
    )
    return min(((most, name) for most, name in limits if most), default=None)


class _CommonProfiles:
    """The profiles that all jobs of a chain have in common.

    A cluster has those of its first task, and the most cores and memory of any. With
    ``on`` these amounts may differ; else none of the jobs asks for more than its own.
    """

    def __init__(self, given: PlanningInput, site: str) -> None:
        self._given = given
        self._site = site
        amounts = _AMOUNTS if given.settings.chains == "on" else ()
        self._left_out = {("pegasus", key) for key in (*_ADDED, *amounts)}
        self._known: dict[str, _Settled] = {}

    def are_alike(self, one: str, other: str) -> bool:
        return self._of(one) == self._of(other)

    def _of(self, ident: str) -> _Settled:
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
