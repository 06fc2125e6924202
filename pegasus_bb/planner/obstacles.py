"""All that stands in the way of a planning, in the order in which to mend it.

A planning ends at the first mistake, and a user who meets one a time mends six times.
So after a refusal each check is made for itself, as far as what it needs can be read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pegasus_bb.core.errors import SeveralObstacles, UsageError
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.place_files import decide
from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.settings import read_settings
from pegasus_bb.model.value_lines import ValueLines
from pegasus_bb.model.workflow import (
    OWN_RUN,
    Job,
    Workflow,
    read_workflow,
    with_own_runs,
)
from pegasus_bb.planner.builtin.argument_words import task_words
from pegasus_bb.planner.builtin.executable import Programs
from pegasus_bb.planner.builtin.own_runs import check_inputs
from pegasus_bb.planner.builtin.planner import BuiltInPlanner
from pegasus_bb.planner.builtin.planner_limits import check_job, check_results_survive
from pegasus_bb.planner.builtin.profiles import merge
from pegasus_bb.planner.local_files import check_local_files
from pegasus_bb.planner.omissions import check_settings
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import is_builtin
from pegasus_bb.planner.reading import (
    UserInput,
    check_staging_site,
    execution_site,
    leave_out_absent,
    named_site,
    names_mode,
    properties_of,
    read_planning,
    read_user_input,
)
from pegasus_bb.planner.run_plan import output_sites, plan_run

T = TypeVar("T")
_MOST = 20  # that a person reads; more of one kind say nothing new


class _Obstacles:
    def __init__(self) -> None:
        self.errors: list[UsageError] = []

    @property
    def is_full(self) -> bool:
        """Whether to look for no more: each error costs a search for its line."""
        return len(self.errors) >= _MOST

    def meet(self, check: Callable[[], T]) -> T | None:
        """What ``check`` returns; None if it is an obstacle, which is noted once."""
        try:
            return check()
        except UsageError as error:
            known = (str(other) for other in self.errors)
            if not self.is_full and str(error) not in known:
                self.errors.append(error)
            return None

    def as_one(self) -> UsageError | None:
        """All of them; None if there are none."""
        if len(self.errors) < 2:
            return next(iter(self.errors), None)
        return SeveralObstacles(self.errors)


def with_all_obstacles(error: UsageError, options: PlanOptions) -> UsageError:
    """``error`` of a planning, or all that it would meet one after the other."""
    own = error.errors if isinstance(error, SeveralObstacles) else (error,)
    found = find_obstacles(options)
    texts = {str(each) for each in found}
    found = [*(each for each in own if str(each) not in texts), *found]
    return error if len(found) == 1 else SeveralObstacles(found)


def find_obstacles(options: PlanOptions) -> list[UsageError]:
    """Every refusal of a planning with ``options``; writes nothing."""
    found = _Obstacles()
    found.meet(options.check)
    properties = found.meet(lambda: properties_of(options))
    if properties is None:
        return found.errors
    settings = found.meet(lambda: read_settings(properties, options.cwd))
    is_ours = settings is not None and is_builtin(settings.planner)
    if is_ours:
        found.meet(options.check_builtin)
    user = found.meet(lambda: read_user_input(options))
    if user is not None:
        _of_user(found, options, user, is_builtin=is_ours)
    return found.errors


def check_explained(
    options: PlanOptions, given: PlanningInput, placement: Placement
) -> None:
    """Raises UsageError with all that the built-in planner, if that plans, would refuse
    of a workflow that can be placed. What this machine has is not looked at."""
    found = _Obstacles()
    if not is_builtin(given.settings.planner):
        return
    found.meet(options.check_builtin)
    _of_jobs(found, options, given.workflow, given.catalogs, given.site)
    found.meet(lambda: check_settings(given.workflow, given.catalogs, given.site.name))
    is_named = names_mode(given.catalogs.properties)  # else plan takes mode off
    stay = not output_sites(options, given.catalogs)
    if is_named and stay and given.settings.mode.is_shared:
        found.meet(lambda: check_results_survive(given.workflow, placement))
    if error := found.as_one():
        raise error


def _of_user(
    found: _Obstacles, options: PlanOptions, user: UserInput, *, is_builtin: bool
) -> None:
    catalogs = user.catalogs
    site = found.meet(lambda: execution_site(options, catalogs))
    if site is not None:
        found.meet(lambda: check_staging_site(options, catalogs, site))
    named = [
        found.meet(lambda: named_site(catalogs, "--output-sites", name))  # noqa: B023
        for name in options.output_sites
    ]
    if all(named):
        found.meet(lambda: output_sites(options, catalogs))
    workflow = found.meet(lambda: read_workflow(user.workflow))
    if workflow is None:
        return
    leave_out_absent(workflow, catalogs.replicas.replicas)
    if is_builtin:
        workflow = with_own_runs(workflow)
        _of_jobs(found, options, workflow, catalogs, site)
        if site is not None:
            found.meet(lambda: check_settings(workflow, catalogs, site.name))
    given = found.meet(lambda: read_planning(options, user))
    if given is not None:
        _of_planning(found, options, given, is_builtin=is_builtin)


def _of_jobs(
    found: _Obstacles,
    options: PlanOptions,
    workflow: Workflow,
    catalogs: Catalogs,
    site: Site | None,
) -> None:
    """What the built-in planner does not plan, and programs that are nowhere."""
    graph = found.meet(lambda: build_graph(workflow))
    if graph is None:
        return
    catalog = catalogs.transformations
    found.meet(lambda: check_inputs(workflow, catalogs, graph))
    places = ValueLines(workflow, catalogs)
    programs = Programs(places, "/")
    seen: set[str] = set()
    for job in workflow:
        if found.is_full:
            return
        found.meet(lambda: check_job(workflow, graph, job))  # noqa: B023
        name = job.transformation
        if site is None:
            continue
        if job.kind != OWN_RUN:  # its arguments are options of a planning
            found.meet(lambda: _check_profiles(places, site, job))  # noqa: B023
            found.meet(lambda: _check_arguments(places, site, job))  # noqa: B023
        if options.may_run_here and job.is_only_local(catalog, site.name):
            continue
        if job.runs_on(site.name) and name not in seen:
            seen.add(name)
            found.meet(lambda: programs.program(name, site.name, job.id))  # noqa: B023


def _check_profiles(places: ValueLines, site: Site, job: Job) -> None:
    with places.placed(site.name, job.transformation, job):
        merge(job.profiles)


def _check_arguments(places: ValueLines, site: Site, job: Job) -> None:
    with places.placed(site.name, job.transformation, job):
        task_words(job.arguments, job.id)


def _of_planning(
    found: _Obstacles, options: PlanOptions, given: PlanningInput, *, is_builtin: bool
) -> None:
    decision = found.meet(lambda: decide(given))
    found.meet(lambda: check_local_files(options, given, decision))
    if found.errors or not is_builtin:
        return
    run = found.meet(lambda: plan_run(options, given, decision))
    if run is not None:
        found.meet(lambda: BuiltInPlanner(options).check_plan(given, run))
