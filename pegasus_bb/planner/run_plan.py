"""Names, folders and requests of one planned run; made once, never changed."""

from __future__ import annotations

import getpass
import posixpath
import uuid as uuids
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.paths import is_below
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.modes import PLANNED
from pegasus_bb.model.placement import Chain, JobReservation, Placement
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.node_programs import check_darshan, check_python
from pegasus_bb.planner.options import PlanOptions, RunDirectories, run_directories
from pegasus_bb.planner.rewrite.pass_input import Target

if TYPE_CHECKING:  # most plannings predict and pace nothing
    from pegasus_bb.forecast.workflow.mode_choice import Predicted
    from pegasus_bb.planner.drain_plan import DrainPlan


@dataclass(frozen=True)
class RunPlan:
    """One planning: one abstract workflow to one submit directory."""

    label: str  # the workflow's name; file names begin with <label>-0
    user: str
    timestamp: str  # ISO 8601 with zone: -T of records, stamp of braindump.yml
    uuid: str  # of this run
    submit_dir: Path  # final and absolute; files are written elsewhere, then renamed
    base_dir: Path  # of --dir; submit_dir lies below it
    relative_dir: str  # below the site's scratch: user/pegasus/label/run0001
    site: str  # where the tasks run
    output_sites: tuple[str, ...]  # where results go; empty: they stay in scratch
    output_dir: Path | None  # --output-dir, in place of the output site's storage
    cleanup: str  # none | leaf | inplace
    arguments: tuple[str, ...]  # the command line, for braindump.yml
    request: Request | None = None  # the shared reservation: persistent, hybrid
    decision: PlacementDecision | None = None  # None in mode off
    # What the job reservations have in common: transient, hybrid.
    transient: Request | None = None
    poll: int = 10  # seconds between two runs of a deferred gate
    predicted: Predicted | None = None  # None if the speed of the storage is unknown
    python: str = ""  # the Python of compute nodes; empty: the system's own
    is_kept: bool = True  # nodes keep a copy of our code
    darshan: str = ""  # the library that tasks preload; empty: none
    drain: DrainPlan | None = None  # None: results leave as soon as they are there
    clusters: tuple[str, ...] = ()  # horizontal | label | whole | none, in this order
    input_dirs: tuple[Path, ...] = ()  # absolute
    may_run_here: bool = False  # --sites names local beside the site
    cwd: Path = Path()  # where the command line was typed
    force: bool = False  # a run in the submit directory is moved aside
    is_private: bool = False  # each job has a folder of its own
    request_growth: float = 1.0  # of a request for the node's disk, at each try

    @property
    def placement(self) -> Placement | None:
        return self.decision.placement if self.decision else None

    def with_placement(self, placement: Placement) -> RunPlan:
        if self.decision is None:
            return self
        return replace(self, decision=replace(self.decision, placement=placement))

    @property
    def job_reservations(self) -> Mapping[str, JobReservation]:
        """By job, or by cluster; none in mode off."""
        return self.placement.job_reservations if self.placement else {}

    @property
    def chains(self) -> tuple[Chain, ...]:
        """Clusters that planning has chosen; ``clusters`` then begins with label."""
        chains = self.decision.chains if self.decision else None
        return chains.found if chains else ()

    @property
    def mode(self) -> str:
        """off | persistent | transient | hybrid"""
        has = (self.request is not None, self.transient is not None)
        modes = PLANNED.values()
        found = (x for x in modes if (x.is_shared, x.has_job_reservations) == has)
        return next(found).name

    @property
    def gate_retries(self) -> int:
        """Retries of the gate and its node. If the reservation is gone before that node
        has used it, the gate may continue the run on the PFS."""
        return int(self.request is not None and self.request.fallback == "pfs")

    @property
    def tier(self) -> str:
        request = self.request or self.transient
        return request.tier if request else ""

    @property
    def pool_folders(self) -> dict[str, str]:
        """Each pool that the run uses -> the run's folder in it."""
        if self.request is None or self.placement is None:
            return {}
        root = posixpath.normpath(self.request.settings.get("path", "/"))
        pools = self.placement.pools
        name = self.request.name
        return {pool.name: f"{root}/{pool.path}/{name}" for pool in pools}

    @property
    def transfers_here(self) -> bool:
        """Whether the planner's own jobs of the site run on the submit host."""
        request = self.request or self.transient
        return bool(request and request.transfers_here)

    @property
    def jobs_travel(self) -> bool:
        """Whether what a job needs of the submit directory comes with it to its
        node."""
        request = self.request
        if request is None or not request.is_all_nodes_see:
            return self.files_travel
        return not is_below(str(self.submit_dir), request.settings["path"])

    @property
    def files_travel(self) -> bool:
        """Whether the inputs and results of a job come and go with it, too: its node
        sees nothing but a disk of its own."""
        request = self.transient
        return self.request is None and bool(request and request.is_all_nodes_see)

    @property
    def bin(self) -> Path:
        return self.submit_dir / "bb" / "bin"

    @property
    def rewriting(self) -> Target | None:
        """The input of the rewriting passes; None in mode off."""
        request = self.request or self.transient
        if request is None or self.placement is None:
            return None
        common = self.site, self.placement, request, self.submit_dir
        return Target(*common, self.chains, self.request is not None)


def plan_run(
    options: PlanOptions,
    given: PlanningInput,
    decision: PlacementDecision | None,
    predicted: Predicted | None = None,
    drain: DrainPlan | None = None,
) -> RunPlan:
    """Choose the directories, the names and the request. Raises UsageError."""
    label = given.workflow.name
    uuid = str(uuids.uuid4())
    directories = run_directories(options, label, uuid)
    if decision is not None and decision.placement.tier.is_all_nodes_see:
        from pegasus_bb.planner.travelling_limits import check_seen  # few pools

        check_seen(options, given, decision.placement, directories)
    folder = options.output_dir
    properties = given.catalogs.properties
    settings = given.settings
    request = transient = None
    if decision is not None:
        request = make_request(decision.placement, settings, uuid)
        if settings.mode.has_job_reservations:
            transient = _job_request(given, decision.placement, uuid, directories)
    return RunPlan(
        label=label,
        user=getpass.getuser(),
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        uuid=uuid,
        submit_dir=directories.submit_dir,
        base_dir=directories.base_dir,
        relative_dir=directories.relative_dir,
        site=given.site.name,
        output_sites=output_sites(options, given.catalogs),
        output_dir=options.absolute(folder) if folder else None,
        cleanup=options.cleanup,
        arguments=options.arguments,
        clusters=_clusters(options, decision),
        may_run_here=options.may_run_here,
        input_dirs=tuple(map(options.absolute, options.input_dir)),
        cwd=options.cwd,
        force=options.force,
        is_private=given.data_configuration.is_private,
        request=None if settings.mode.is_only_for_jobs else request,
        transient=transient,
        decision=decision,
        predicted=predicted,
        drain=drain,
        poll=settings.poll,
        python=check_python(properties, settings.python),
        is_kept=settings.node_cache == "on",
        darshan=check_darshan(properties, settings.darshan),
        request_growth=settings.request_growth,
    )


def _clusters(
    options: PlanOptions, decision: PlacementDecision | None
) -> tuple[str, ...]:
    """How clusters are made: chains by labels, before all others. Raises
    UsageError."""
    if decision is None or decision.chains is None:
        return options.clusters
    taken = [name for name in options.clusters if name in ("label", "whole")]
    if taken:
        raise UsageError(
            f"--cluster {taken[0]} and --bb-chains would both say which jobs run in "
            "one node; leave out one of them. --cluster horizontal joins jobs outside "
            "of chains"
        )
    return ("label", *(name for name in options.clusters if name != "none"))


def _job_request(
    given: PlanningInput, placement: Placement, uuid: str, directories: RunDirectories
) -> Request:
    """The request that all job reservations have in common. Raises UsageError."""
    folder = f"{given.scratch}/{directories.relative_dir}"
    if is_below(f"{directories.submit_dir}/", folder):
        raise UsageError(
            f"the submit directory {directories.submit_dir} lies in the run's own "
            f"scratch {folder}, which is another place for each job in mode "
            f"{given.settings.mode}: choose another --dir"
        )
    request = make_request(placement, given.settings, uuid, placement.job_tier)
    return request._replace(prefix=folder)


def make_request(
    placement: Placement, settings: Settings, uuid: str, tier: Tier | None = None
) -> Request:
    """The request of run ``uuid``, on the shared tier unless ``tier`` is another.
    Raises UsageError."""
    tier = tier or placement.tier
    name = check_reservation_name(settings.name + uuid.replace("-", "")[:12])
    own = {**tier.settings, "guard": settings.guard}
    if placement.pools:
        own["pools"] = " ".join(pool.path for pool in placement.pools)
    return Request(
        name=name,
        backend=tier.backend,
        capacity=placement.capacity,
        prefix=f"/bb/{name}",
        uuid=uuid,
        tier=tier.name,
        site=tier.site,
        access=tier.access,
        pool=tier.pool,
        wait=settings.wait,
        poll=settings.poll,
        fallback="pfs" if settings.falls_back else "fail",
        settings={**own, "granularity": str(tier.granularity)},
    )


def output_sites(options: PlanOptions, catalogs: Catalogs) -> tuple[str, ...]:
    """Where results are staged to; empty where they stay. Raises CatalogError."""
    if options.output_dir is not None:
        return options.output_sites or ("local",)
    for name in options.output_sites:
        storage_of(catalogs, name)
    return tuple(dict.fromkeys(options.output_sites))


def output_folders(run: RunPlan, catalogs: Catalogs) -> dict[str, str]:
    """Each folder that results go to -> its site."""
    if run.output_dir is not None:
        return {str(run.output_dir): run.output_sites[0]}
    return {storage_of(catalogs, name): name for name in run.output_sites}


def storage_of(catalogs: Catalogs, name: str) -> str:
    """The folder for results on site ``name``. Raises CatalogError."""
    site = catalogs.sites.site(name)
    if site.storage is None:
        raise catalogs.sites.document.error(
            f"site {site.name} has no storage directory for results",
            ["sites", site.index, "directories"],
            would_do="add a directory of type localStorage, or say --output-dir",
        )
    return site.storage.path.rstrip("/")
