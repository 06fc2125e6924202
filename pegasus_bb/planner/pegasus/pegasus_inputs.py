"""Changes for pegasus-plan on top of the rewriting passes, and the files that it reads.

Its parsers stream, want text where YAML would have true, and expand ``${X}`` again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalog_files import SOURCES
from pegasus_bb.model.dag.blahp import GRID, GUARDED_RELEASE
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Data, Document, plain
from pegasus_bb.model.settings import Properties
from pegasus_bb.model.transformations import MAPPER, OS, full_name
from pegasus_bb.planner.rewrite.lifecycle import (
    DELETE,
    SETUP,
    free_ids,
    installed,
    job_of_ours,
    with_jobs,
    with_programs,
)
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    Keys,
    profile_settings,
    site_index,
    with_scratch,
    with_values,
)
from pegasus_bb.planner.run_plan import RunPlan

PROPERTIES = "pegasus.properties"
WORKFLOW = "workflow.yml"
READY = "bb_ready"
_EXECUTION_SITE = "execution.site"  # a profile of selector
_WORKER_PACKAGE = "pegasus.transfer.worker.package"
_NAMESPACE = "pegasus"
_CLUSTER_OPTIONS = "cluster.arguments"
_CLUSTER_LOG = "pegasus.clusterer.job.aggregator.seqexec.log"


def for_pegasus(inputs: Inputs, run: RunPlan, folder: Path) -> Inputs:
    """``inputs`` as pegasus-plan should read them from ``folder``."""
    site = run.site
    inline = {key for _, key in SOURCES.values()}  # catalogs, which are files now
    workflow = {k: v for k, v in inputs.workflow.data.items() if k not in inline}
    programs = without_containers(inputs.transformations.data, site)
    inputs = replace(
        inputs,
        sites=_with_change_dir(inputs.sites, site),
        properties=_with_catalogs(inputs.properties, folder),
    ).with_data(workflow=workflow, transformations=programs)
    inputs = _with_programs(inputs, run)
    if MAPPER in inputs.properties:
        inputs = _with_mapped(inputs)
    if run.request is None:
        return with_own_checkpoints(inputs, run)
    # For bb_setup and bb_delete.
    sites = with_scratch(inputs.sites, LOCAL, folder.parent / LOCAL)
    inputs = _with_uses(replace(inputs, sites=sites), _use)
    if all(map(_is_added_or_inner, workflow["jobs"])):
        inputs = _with_job_on_site(inputs, site)
    if run.transfers_here:
        return inputs
    return inputs.with_data(
        replicas=replicas_by_path(inputs.replicas.data),
        transformations=programs_on_site(inputs.transformations.data, site),
    )


def _is_added_or_inner(job: Data) -> bool:
    return job["type"] != "job" or job.get("name") in (SETUP, DELETE)


def _with_job_on_site(inputs: Inputs, site: str) -> Inputs:
    """``inputs`` of a workflow that has sub-workflows alone, with a job on ``site``
    that does nothing: pegasus-plan makes no folder where no job runs, and the gate
    stands before that folder."""
    ident, _ = free_ids(inputs.workflow.data["jobs"])
    program = installed(READY, "/bin/true", inputs.sites, site)
    return with_jobs(inputs, [job_of_ours(READY, ident, site)], [program])


def _with_mapped(inputs: Inputs) -> Inputs:
    """``inputs`` with the programs that the user's mapper takes, and a mapper that
    takes all of them: bb_setup is installed."""
    from pegasus_bb.model.transformation_mapper import mapped_document  # few name one

    programs = mapped_document(inputs.transformations, inputs.properties)
    return replace(inputs, transformations=programs).with_properties({MAPPER: "All"})


def _with_change_dir(sites: Document, site: str) -> Document:
    """``sites``, with each Kickstart of ``site`` changing to the run's folder.

    Otherwise HTCondor would change to the planned prefix, which does not exist, before
    the launcher runs. Styles glite and ssh change in Kickstart anyway.
    """
    index = site_index(sites, site)
    change: dict[Keys, str] = {
        ("sites", index, "profiles", "pegasus", "change.dir"): "true"
    }
    profiles = sites.data["sites"][index].get("profiles") or {}
    style = str((profiles.get("pegasus") or {}).get("style")).lower()
    if style in GRID and "periodic_release" not in (profiles.get("condor") or {}):
        at = ("sites", index, "profiles", "condor", "periodic_release")
        change[at] = GUARDED_RELEASE
    return with_values(sites, change)


def _with_programs(inputs: Inputs, run: RunPlan) -> Inputs:
    """``inputs`` with our programs in the place of Pegasus's own, where the user does
    not say where the site has those. With sharedfs pegasus-plan would not know where to
    find Kickstart, and would make no cluster."""
    named = {e.get("name") for e in inputs.programs if e.get("namespace") == _NAMESPACE}
    added = [
        _installed(name, run.site, run.bin / program)
        for name, program in _missing_programs(inputs, run.site)
        if name not in named
    ]
    return with_programs(inputs, added) if added else inputs


def _installed(name: str, site: str, program: Path) -> Data:
    place = {"name": site, "pfn": str(program), "type": "installed"}
    return {"namespace": _NAMESPACE, "name": name, "sites": [place]}


def _missing_programs(inputs: Inputs, site: str) -> Iterator[tuple[str, str]]:
    """Yield the programs of Pegasus that the user has not placed, with ours."""
    properties = inputs.properties
    profiles = inputs.sites.data["sites"][site_index(inputs.sites, site)]
    profiles = profiles.get("profiles") or {}
    if "PEGASUS_HOME" in (profiles.get("env") or {}):
        return
    path = "gridstart.path"
    of_site = profiles.get("pegasus") or {}
    if f"pegasus.{path}" not in properties and path not in of_site:
        yield "kickstart", "record"
    # Ours knows -f alone.
    more = next(profile_settings(inputs, _CLUSTER_OPTIONS, site), None)
    if not more and not {_CLUSTER_LOG, f"pegasus.{_CLUSTER_OPTIONS}"} & {*properties}:
        yield "seqexec", "cluster"


def _with_catalogs(properties: Properties, folder: Path) -> Properties:
    added = {
        f"pegasus.catalog.{kind}.file": str(folder / name)
        for kind, (name, _) in SOURCES.items()
    }
    added |= {f"pegasus.catalog.{kind}": "YAML" for kind in SOURCES}
    if _WORKER_PACKAGE in properties:  # our programs take its place
        added[_WORKER_PACKAGE] = "false"
    return properties.with_values(added, "pegasus-bb")


def _each(data: Data, key: str, change: Callable[[Any], Any]) -> Data:
    """``data`` with ``change`` applied to its list ``key``; ``data`` itself if nothing
    changes."""
    known = data.get(key) or []
    changed = [change(entry) for entry in known]
    same = all(new is old for new, old in zip(changed, known, strict=True))
    return data if same else {**data, key: changed}


def with_own_checkpoints(inputs: Inputs, run: RunPlan) -> Inputs:
    """Mode transient: do not stage out checkpoints that leave a job's reservation only
    for its next try."""
    reservations = run.job_reservations.values()
    own = {lfn for each in reservations for lfn in each.checkpoints}
    if not own:
        return inputs

    def change(use: Any) -> Any:
        return _use(use) if use["lfn"] in own else use

    return _with_uses(inputs, change)


def _with_uses(inputs: Inputs, change: Callable[[Any], Any]) -> Inputs:
    """``inputs`` with ``change`` applied to each file that a job uses."""
    data = inputs.workflow.data
    changed = _each(data, "jobs", lambda job: _each(job, "uses", change))
    return inputs.with_data(workflow=changed)


def _use(use: Any) -> Any:
    """Do not register intermediate files, which vanish with the buffer. Do not stage
    out checkpoints: a task need not write one, and a failed stage-out keeps the
    buffer."""
    if use["type"] == "checkpoint":
        return {**use, "stageOut": False, "registerReplica": False}
    stays = use["type"] != "output" or use.get("stageOut", True)
    if stays or use.get("registerReplica", True) is not True:
        return use
    return {**use, "registerReplica": False}


def replicas_by_path(data: Data) -> Data:
    """The replica catalog ``data``, with paths instead of URLs for files of site local.

    Transfers run on the compute site, for which pegasus-plan's replica selectors drop
    ``file://`` URLs of other sites, but keep paths, which are in shared folders.
    """
    return _each(data, "replicas", lambda entry: _each(entry, "pfns", _by_path))


def _by_path(pfn: Data) -> Data:
    path = local_path(str(pfn["pfn"]))
    if pfn.get("site", LOCAL) != LOCAL or path in (None, pfn["pfn"]):
        return pfn
    return {**pfn, "pfn": path}


def without_containers(data: Data, site: str) -> Data:
    """The transformation catalog ``data`` without containers, which the launcher
    starts: with sharedfs pegasus-plan would stage images, and start no container.

    A program that an image has, whatever the site, is one of ``site``.
    """
    kept = {key: value for key, value in data.items() if key != "containers"}
    return _each(kept, "transformations", lambda entry: _bare(entry, site))


def _bare(entry: Data, site: str) -> Data:
    is_here = _has_site(entry, site)

    def bare(place: Data) -> Data:
        if not place.get("container"):
            return place
        own = {key: value for key, value in place.items() if key != "container"}
        is_staged = place.get("type") == "stageable"
        return own if is_here or is_staged else {**own, "name": site}

    return _each(entry, "sites", bare)


def programs_on_site(data: Data, site: str) -> Data:
    """The transformation catalog ``data``, with programs staged from local moved to
    ``site``: pegasus-plan turns the path of a program into a ``file://`` URL.

    A program with an entry for ``site`` stays unchanged.
    """
    return _each(data, "transformations", lambda entry: _program(entry, site))


def _program(entry: Data, site: str) -> Data:
    if _has_site(entry, site):
        return entry
    move = {"name": site}
    return _each(entry, "sites", lambda p: {**p, **move} if _is_staged(p) else p)


def _has_site(entry: Data, site: str) -> bool:
    return any(place.get("name") == site for place in entry.get("sites") or ())


def _is_staged(place: Any) -> bool:
    """Whether a program is staged from a folder of site local, not from a web
    server."""
    pfn = str(place.get("pfn"))
    here = "://" not in pfn or local_path(pfn) is not None
    return place.get("name") == LOCAL and place.get("type") == "stageable" and here


def write_inputs(inputs: Inputs, folder: Path) -> None:
    """Make ``folder``, and write the inputs of pegasus-plan there."""
    write_settings(inputs, folder)
    (folder / WORKFLOW).write_bytes(_text(inputs.workflow.data))


def write_settings(inputs: Inputs, folder: Path) -> None:
    """Make ``folder``, and write the properties and catalogs of ``inputs`` there."""
    folder.mkdir(parents=True)
    documents = inputs.sites, inputs.replicas, inputs.transformations
    for document, (name, _) in zip(documents, SOURCES.values(), strict=True):
        (folder / name).write_bytes(_text(_as_file(document.data)))
    (folder / PROPERTIES).write_text(inputs.properties.to_text(), encoding="utf-8")


def _as_file(data: Data) -> Data:
    """The catalog ``data``, which may have stood in the workflow, as pegasus-plan takes
    it in a file: with the version of its form, and text for the parts of a system."""
    data = _each(data, "sites", _with_text)
    data = _each(data, "transformations", lambda e: _each(e, "sites", _with_text))
    return {"pegasus": "5.0", **data}


def _with_text(site: Data) -> Data:
    numbers = {
        key: plain(site[key]) for key in OS if isinstance(site.get(key), float | int)
    }
    return {**site, **numbers} if numbers else site


def _text(data: Data) -> bytes:
    r"""JSON, with ``${X}`` as ``\${X}``, which pegasus-plan does not expand again.

    Each list entry has one line: with a line for every value, pegasus-plan's parser
    would take half as long again.
    """
    pairs = (_json(key) + b": " + _lines(value) for key, value in data.items())
    return (b"{\n" + b",\n".join(pairs) + b"\n}\n").replace(b"${", rb"\${")


def _lines(value: object) -> bytes:
    if not isinstance(value, list) or not value:
        return _json(value)
    return b"[\n" + b",\n".join(map(_json, value)) + b"\n]"


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


def on_the_site(inputs: Inputs, given: PlanningInput) -> Inputs:
    """Return ``inputs``, whose jobs run on the site of ``given``, but for those that
    name another one and those that only local can run.

    Where --sites names local beside it, pegasus-plan draws a site for each job that can
    run on both, and files of jobs on local would not be on the buffer.
    """
    site, programs = given.site.name, given.catalogs.transformations
    jobs = {
        job.id: job.transformation
        for job in given.workflow
        if job.runs_on(site) and not job.is_only_local(programs, site)
    }

    def on_site(job: Data) -> Data:
        return _with_selector(site, job) if job.get("id") in jobs else job

    data, names = inputs.transformations.data, set(jobs.values())
    return inputs.with_data(
        workflow=_each(inputs.workflow.data, "jobs", on_site),
        transformations=_of_any_release(data, names, given.site.data),
    )


def _of_any_release(data: Data, names: Collection[str], site: Data) -> Data:
    """The transformation catalog ``data``, where the programs ``names`` that are staged
    have no release of a system if ``site`` has none: pegasus-plan would find them on
    local alone."""
    unsaid = [key for key in OS[1:] if key not in site]

    def of_any(place: Data) -> Data:
        if place.get("type") != "stageable":
            return place
        return {key: value for key, value in place.items() if key not in unsaid}

    def of_its_jobs(entry: Data) -> Data:
        words = (str(entry.get(key, "")) for key in ("namespace", "name", "version"))
        return _each(entry, "sites", of_any) if full_name(*words) in names else entry

    return _each(data, "transformations", of_its_jobs)


def _with_selector(site: str, job: Data) -> Data:
    profiles = job.get("profiles") or {}
    selector = {**(profiles.get("selector") or {}), _EXECUTION_SITE: site}
    return {**job, "profiles": {**profiles, "selector": selector}}
