"""What planning reads, and what it decides from that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from pegasus_bb.core.errors import CatalogError, UnplacedError
from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.data_configuration import DataConfiguration, data_configuration
from pegasus_bb.model.document import plain
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.modes import RunMode
from pegasus_bb.model.placement import Chain, JobReservation, Placement
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.value_lines import ValueLines
from pegasus_bb.model.workflow import Job, Workflow

_COPY = "bb.inputs"  # pegasus profile of a job or a transformation
# pegasus profile -> the least that it can be
AMOUNTS = {"cores": 1, "nodes": 1}
TIMES = {"runtime": 0}


@dataclass(frozen=True, slots=True)
class Ending:
    """What happens to files that no job needs any more."""

    cleanup: str = "inplace"  # none | leaf | inplace | constraint
    delivered: bool = True  # results are staged out, so their copies can be removed
    late: bool = False  # results are staged out after the last job has computed


def _not_known(tier: Tier) -> int | None:
    return None


def _is_amount(text: str, least: int) -> bool:
    return text.isascii() and text.isdigit() and int(text) >= least


@dataclass(frozen=True, kw_only=True)
class PlanningInput:
    """What planning reads: the workflow, the catalogs, and the user's settings."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs
    settings: Settings
    site: Site  # of the tasks
    ending: Ending
    history: History = field(default_factory=History)
    notes: tuple[str, ...] = ()  # for the user, on options that planning adapts
    free_on: Callable[[Tier], int | None] = _not_known  # bytes; None: not known
    scale: int = 1  # how many times the bytes of its files a simulation assumes

    @property
    def data_configuration(self) -> DataConfiguration:
        return data_configuration(self.catalogs, self.site)

    @property
    def scratch(self) -> str:
        """The site's own scratch, without a slash at its end."""
        return self.site.scratch.path.rstrip("/") if self.site.scratch else ""

    @property
    def has_sub_workflows(self) -> bool:
        return any(job.is_sub_workflow for job in self.workflow)

    @property
    def levels(self) -> int:
        """The length of the longest chain of jobs."""
        return max(self.graph.level.values(), default=0)

    @cached_property
    def profile(self) -> Callable[[Job, str], str | None]:
        """A function: the pegasus profile of a job, else of its program."""
        programs, site = self.catalogs.transformations, self.site.name

        @cache
        def of_program(name: str, key: str) -> str | None:
            known = programs.profiles(name, site)
            every = ((profiles.get("pegasus") or {}).get(key) for profiles in known)
            return next((plain(each) for each in every if each is not None), None)

        def of_job(job: Job, key: str) -> str | None:
            own = job.profile("pegasus", key) if "profiles" in job.data else None
            return of_program(job.transformation, key) if own is None else own

        return of_job

    def is_asked_for(
        self, job: Job, key: str, choices: tuple[str, str], would_do: str
    ) -> bool:
        """Whether the pegasus profile ``key`` of ``job``, else of its program, is the
        first of ``choices``; the second is the default. Raises CatalogError for another
        value."""
        value = self.profile(job, key)
        if value is not None and value not in choices:
            what = f"job {job.id} or its program has an odd profile {key}"
            raise self.profile_error(job, key, what, value, would_do)
        return value == choices[0]

    def wants_copies(self, job: Job) -> bool:
        """Whether ``job`` is to have copies of its inputs, since it may write to them.
        Raises CatalogError."""
        would_do = "copy: the job may write to its inputs; or link"
        return self.is_asked_for(job, _COPY, ("copy", "link"), would_do)

    def profile_error(
        self, job: Job, key: str, what: str, found: str, would_do: str
    ) -> CatalogError:
        """An error about the pegasus profile ``key`` of ``job``, at the place that set
        it."""
        error = UnplacedError(what, ("profiles", "pegasus", key), found, would_do)
        places = ValueLines(self.workflow, self.catalogs)
        return places.error(error, self.site.name, job.transformation, job)

    def check_amounts(self, least: Mapping[str, int]) -> None:
        """Raises CatalogError for a pegasus profile of a job, or of its program, that
        is no whole number or below what ``least`` says of its key."""
        for job in self.workflow:
            for key, lowest in least.items():
                text = self.profile(job, key)
                if text is None or _is_amount(text.strip(), lowest):
                    continue
                above = f", {lowest} or more" if lowest else ""
                what = f"{key} is a whole number{above}"
                mend = f"{key}: {lowest or 60}"
                raise self.profile_error(job, key, what, repr(text), mend)

    @property
    def nodes_see_a_tier_alone(self) -> bool:
        """Whether the site has a tier that is all that its nodes see."""
        tiers = self.catalogs.tiers.get(self.site.name, ())
        return any(tier.is_all_nodes_see for tier in tiers)

    def in_mode(self, mode: RunMode) -> PlanningInput:
        return replace(self, settings=replace(self.settings, mode=mode))


@dataclass(frozen=True, slots=True)
class MovedFiles:
    lfns: tuple[str, ...]
    benefit: int  # bytes that tasks read and write in candidates that stay


@dataclass(frozen=True, slots=True)
class Selection:
    """Mode hybrid: why these jobs have a reservation. Figures are bytes times duration,
    by the rule of docs/placement.md."""

    unit: str  # seconds; levels if no run time is known
    span: float  # in units: the least duration of the shared reservation
    persistent: float  # what mode persistent would reserve
    shared: float  # of the shared reservation
    job_reservations: float  # of all of them together
    asked: int  # jobs that could have one
    why_none: str = ""  # why no job could have one


@dataclass(frozen=True, slots=True)
class WeighedCut:
    """One way to cut a site's jobs into chains, and what the forecast says of it."""

    chains: int
    jobs: int  # of the one that has the most
    stays: int  # bytes that never leave their nodes
    seconds: float  # of the run
    is_taken: bool = False


@dataclass(frozen=True, slots=True)
class Chains:
    """Mode transient: the chains, and what they change. Pairs are without and with
    them."""

    found: tuple[Chain, ...]
    unit: str  # of ``span``: seconds; jobs if no run time is known
    span: tuple[float, float]  # of the longest path of jobs
    width: tuple[int, int]  # the most batch jobs of one level


@dataclass(frozen=True)
class PlacementDecision:
    placement: Placement
    pinned: frozenset[str] = frozenset()  # LFNs that a user's rule puts on the tier
    for_jobs: frozenset[str] = frozenset()  # LFNs that the user wants on ``job_tier``
    moved: MovedFiles | None = None
    selection: Selection | None = None  # mode hybrid
    chains: Chains | None = None  # mode transient, if there are some
    no_chains: str = ""  # the limits alone that have prevented all of them
    cuts: tuple[WeighedCut, ...] = ()  # that the forecast has compared
    wanted: str = ""  # what was missing for chains other than lines
    # By the rules alone, where mode hybrid or a short capacity has changed it.
    persistent: PlacementDecision | None = None
    streams: tuple[str, str] | None = None  # the policy of hints, and the reason

    @property
    def own_reservations(self) -> dict[tuple[str, ...], JobReservation]:
        """The ids of the jobs that run as one -> what these have together."""
        return by_batch_job(self.placement.job_reservations, self.chains)


def by_batch_job(
    reservations: Mapping[str, JobReservation], chains: Chains | None
) -> dict[tuple[str, ...], JobReservation]:
    """``reservations`` by job; those of a chain's jobs are one, and come first. Where
    they are joined already, theirs is under the name of their cluster."""
    found = {
        chain.jobs: chain.reservation
        for chain in (chains.found if chains else ())
        if not reservations.keys().isdisjoint(chain.jobs)
    }
    joined = {job for jobs in found for job in jobs}
    alone = {(job,): own for job, own in reservations.items() if job not in joined}
    return found | alone
