"""What a planner leaves out: parts of the user's workflow, and settings of Pegasus that
it does not apply or that Pegasus does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pegasus_bb.core.units import abbreviate
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import plain
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.argument_words import loses_text
from pegasus_bb.planner.builtin.profiles import REAL_PLANNER
from pegasus_bb.planner.rewrite.gridstart import KICKSTART, REPLACED, gridstart_note
from pegasus_bb.planner.rewrite.pass_input import (
    Inputs,
    ProfileSetting,
    profile_entries,
)

# The built-in planner does what these say.
_DONE = """
    bb.* catalog.replica catalog.replica.file catalog.site catalog.site.file
    catalog.site.repo.file catalog.site.sites.*.profiles.*
    catalog.transformation catalog.transformation.file clusterer.label.key
    clusters.num clusters.size
    container.arguments cores data.configuration diskspace glite.arguments gpus
    gridstart.launcher gridstart.launcher.arguments integrity.checking label memory
    mode nodes ppn project queue runtime style transfer.links transfer.threads
"""
# These change nothing that a run with the built-in planner has: services of Pegasus,
# its own programs (such as those that run clusters), logs and credentials.
_WITHOUT_EFFECT = """
    *_PROXY *_PKCS12 BOTO* IRODS* S3CFG SSH_* auth.* auxillary.local aws.* catalog.*.db
    catalog.*.db.* catalog.*.timeout catalog.master.url catalog.provenance*
    catalog.replica.*.asrc catalog.replica.chunk.size catalog.replica.output*
    catalog.workflow.* change.dir change_dir cluster.arguments clusterer.* clusters.*
    collapser condor.dag.checker.jobs condor.logs.symlink create.dir credential.encrypt
    dashboard.* dir.submit.* dir.timestamp.extended enable_for_data_reuse home* html
    job.aggregator* job.runtime log.* log4j.* metrics.* monitord.* parser.* pmc_*
    properties register* relative.submit.dir schema.* stagein.*clusters
    stageout.*clusters tag transfer.*.priority transfer.lite.* transfer.proxy
    transfer.worker.package* type user.properties version wings.* wntmp
    workflow.root.uuid
"""
# The built-in planner does not do these, and says so.
_LEFT_OUT = """
    bundle.stagein catalog.replica.directory* catalog.replica.mrc* catalog.site.sites.*
    chain.stagein checkpoint.time clusterer.preference clusters.maxruntime
    condor.concurrency.limits
    container.launcher container.launcher.arguments data.reuse.scope dir.create*
    dir.exec dir.staging.mapper* dir.useTimestamp estimator* exitcode.* file.cleanup.*
    gridstart.* group job.aggregator job.priority* maxwalltime pegasus_lite_*
    remote.scheduler.* selector.* transfer.* workdir
"""
# The built-in planner does these in one way only; another would give other results or
# another judgement of a task. Setting -> the values that say that way.
ONLY = {
    "catalog.transformation.mapper": ("all", "installed", "staged", "submit"),
    "code.generator": ("condor",),
    "condor.arguments.quote": ("true", "yes", "on", "1"),
    "dir.storage.deep": ("false", "no", "off", "0"),
    "dir.storage.mapper": ("flat",),
    "exitcode.failuremsg": (),
    "exitcode.successmsg": (),
    "gridstart": (KICKSTART, *REPLACED),
}
# Namespace of profiles -> whether the built-in planner leaves it out.
NAMESPACES = {
    **dict.fromkeys(("condor", "dagman", "env", "metadata", "pegasus"), False),
    **dict.fromkeys(("globus", "hints", "stat"), True),
    "selector": False,
}
_KNOWN = {
    **dict.fromkeys(_LEFT_OUT.split(), True),
    **dict.fromkeys([f"{name}.*" for name in ONLY], True),
    **dict.fromkeys([*_WITHOUT_EFFECT.split(), *_DONE.split(), *ONLY], False),
}
NAMES = [name.rstrip(".*") for name in _KNOWN]  # for "did you mean"
_PEGASUS = "pegasus."


def is_left_out(name: str) -> bool | None:
    """Whether the built-in planner leaves ``name`` out; None if Pegasus has no such
    setting."""
    if name in _KNOWN:
        return _KNOWN[name]
    patterns = [pattern for pattern in _KNOWN if fnmatchcase(name, pattern)]
    return _KNOWN[max(patterns, key=len)] if patterns else None


def unknown_settings(given: PlanningInput) -> Iterator[str]:
    """Notes on settings that no planner applies: Pegasus has none of that name."""
    properties = given.catalogs.properties
    for key in _properties(given.catalogs):
        if is_left_out(key[len(_PEGASUS) :]) is None:
            names = [_PEGASUS + name for name in NAMES]
            yield _unknown(f"{properties.origin(key)}: property {key}", key, names)
    for (namespace, name), setting in _profiles_of(given).items():
        what = f"{setting.place}: profile {namespace} {name}"
        if namespace not in NAMESPACES:
            yield _unknown(what, namespace, list(NAMESPACES))
        elif namespace == "pegasus" and is_left_out(name) is None:
            yield _unknown(what, name, NAMES)


def settings_left_out(given: PlanningInput) -> Iterator[str]:
    """A note on settings that the built-in planner does not apply."""
    left = [
        key for key in _properties(given.catalogs) if is_left_out(key[len(_PEGASUS) :])
    ]
    for namespace, name in _profiles_of(given):
        is_ours = namespace == "pegasus"
        if is_left_out(name) if is_ours else NAMESPACES.get(namespace):
            left.append(f"profile {namespace} {name}")
    if left:
        yield f"the built-in planner leaves out {', '.join(left)}"


def check_settings(workflow: Workflow, catalogs: Catalogs, site: str) -> None:
    """Raises CatalogError for a value that the built-in planner does not have, where
    results or the judgement of a task depend on it."""
    properties = catalogs.properties
    profiles = _profiles(workflow, catalogs, site)
    for name, allowed in ONLY.items():
        mend = f"{allowed[0] if allowed else 'take it out'}, or {REAL_PLANNER}"
        what = f"the built-in planner has no such {name}, which decides about results"
        key = _PEGASUS + name
        setting = profiles.get(("pegasus", name))
        if key in properties and properties[key].strip().lower() not in allowed:
            raise properties.error(key, what, mend)
        if setting is not None and setting.value.strip().lower() not in allowed:
            raise setting.error(what, mend)


def _unknown(what: str, word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, 1)
    mend = f"did you mean {close[0]}?" if close else "it has no effect; take it out"
    return f"{what} is not known to Pegasus 5: {mend}"


def _properties(catalogs: Catalogs) -> list[str]:
    return [key for key in catalogs.properties if key.startswith(_PEGASUS)]


def _profiles_of(given: PlanningInput) -> dict[tuple[str, str], ProfileSetting]:
    return _profiles(given.workflow, given.catalogs, given.site.name)


def _profiles(
    workflow: Workflow, catalogs: Catalogs, site: str
) -> dict[tuple[str, str], ProfileSetting]:
    """Namespace and name of each profile that a task may have -> its first setting."""
    inputs = Inputs.of(workflow.document, catalogs)
    found: dict[tuple[str, str], ProfileSetting] = {}
    for part, at, entry in profile_entries(inputs, site):
        for namespace, settings in (entry.get("profiles") or {}).items():
            for name, value in settings.items() if isinstance(settings, dict) else ():
                key = str(namespace).lower(), str(name)
                if key not in found and not key[0].startswith("x-"):
                    keys = (*at, "profiles", namespace, name)
                    document = getattr(inputs, part)
                    found[key] = ProfileSetting(part, document, keys, plain(value))
    return found


_MODE = "pegasus.mode"
_PRODUCTION = "production"  # Pegasus's default


def omission_notes(given: PlanningInput, *, is_builtin: bool) -> list[str]:
    """Notes on parts of the user's workflow that the planner ignores."""
    notes = [*given.notes, *_checkpoints(given, is_builtin=is_builtin)]
    notes += _nothing_kept(given)
    notes += unknown_settings(given)
    inputs = Inputs.of(given.workflow.document, given.catalogs)
    notes += gridstart_note(inputs, given.site.name)
    notes += _workflow_profiles(given.workflow)
    for find in _BUILTIN if is_builtin else ():
        notes += find(given)
    return notes


def _checkpoints(given: PlanningInput, *, is_builtin: bool) -> Iterator[str]:
    """pegasus-plan would stage out a checkpoint that need never be written."""
    on_buffer = given.settings.mode.is_shared
    if not (is_builtin or on_buffer):
        return
    files = [use.lfn for job in given.workflow for use in job.checkpoints()]
    if files:
        yield (
            f"checkpoint files ({abbreviate(files)}) are kept for retries of their "
            "jobs; they are not staged out"
        )


def _nothing_kept(given: PlanningInput) -> Iterator[str]:
    settings = given.settings
    has_folders = settings.mode.has_job_reservations
    if (
        settings.keeps_failed
        and not has_folders
        and not given.data_configuration.is_private
    ):
        yield (
            "--bb-keep-failed keeps nothing here: jobs work in the scratch of the run, "
            "where all files stay after a failure"
        )


def _registration(given: PlanningInput) -> Iterator[str]:
    if given.ending.delivered and any(
        use.stage_out and use.register
        for job in given.workflow
        for use in job.outputs()
    ):
        yield (
            "the built-in planner does not register results in an output replica "
            "catalog; they are where --output-sites or --output-dir says"
        )


def _data_reuse(given: PlanningInput) -> Iterator[str]:
    known = given.catalogs.replicas.replicas.keys()
    if not known.isdisjoint(given.graph.producer):
        yield (
            "some results have replicas already; the built-in planner reuses none of "
            "them and runs every job"
        )


def _arguments(given: PlanningInput) -> Iterator[str]:
    jobs = [j.id for j in given.workflow if loses_text(j.arguments)]
    if jobs:
        yield (
            f"job {abbreviate(jobs)} loses empty arguments and backslashes, as "
            "in Pegasus, which joins and splits them: write '' and \\\\"
        )


def _shell_hooks(given: PlanningInput) -> Iterator[str]:
    owners = abbreviate(list(_hook_owners(given)))
    if owners:
        yield f"the built-in planner does not run the shell hooks of {owners}"


def _hook_owners(given: PlanningInput) -> Iterator[str]:
    workflow = given.workflow
    programs = given.catalogs.transformations
    if workflow.document.data.get("hooks"):
        yield "the workflow"
    for job in workflow:
        if job.data.get("hooks"):
            yield f"job {job.id}"
    for program in programs.transformations.values():
        if program.data.get("hooks"):
            yield f"transformation {program.full_name}"


def _mode(given: PlanningInput) -> Iterator[str]:
    mode = given.catalogs.properties.get(_MODE, _PRODUCTION)
    if mode != _PRODUCTION:
        yield (
            f"the built-in planner does not know {_MODE}: the workflow is planned as "
            f"with {_PRODUCTION}, and not as with {mode}"
        )


def _bypass(given: PlanningInput) -> Iterator[str]:
    uses = (use for job in given.workflow for use in job.data.get("uses") or ())
    lfns = dict.fromkeys(str(use["lfn"]) for use in uses if use.get("bypass"))
    if lfns:
        yield (
            f"the built-in planner does not bypass the staging of inputs "
            f"({abbreviate(list(lfns))}); inputs: link of a tier, or "
            "pegasus.transfer.links, make links to files of the site"
        )


def _workflow_profiles(workflow: Workflow) -> Iterator[str]:
    if workflow.document.data.get("profiles"):
        at = workflow.document.place(["profiles"])
        yield f"{at}: profiles of the whole workflow apply to no job; give them to jobs"


_BUILTIN: tuple[Callable[[PlanningInput], Iterator[str]], ...] = (
    _arguments,
    _registration,
    _data_reuse,
    _shell_hooks,
    _mode,
    _bypass,
    settings_left_out,
)
