"""Settings of Pegasus that a planner does not apply, or that Pegasus does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.document import plain
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.planner.builtin.profiles import REAL_PLANNER
from pegasus_bb.planner.rewrite.gridstart import KICKSTART, REPLACED
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
