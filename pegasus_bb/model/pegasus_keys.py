"""Settings of Pegasus 5: properties ``pegasus.X``, and profiles ``X`` of namespace
pegasus. What the built-in planner does about each; data only.

``*`` stands for any text. A name that is in no list is no setting of Pegasus.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

# The built-in planner does what these say.
_DONE = """
    bb.* catalog.replica catalog.replica.file catalog.site catalog.site.file
    catalog.transformation catalog.transformation.file container.arguments cores
    diskspace glite.arguments gpus gridstart.launcher gridstart.launcher.arguments
    memory mode nodes ppn project queue runtime style transfer.links transfer.threads
"""
# These change nothing that a run with the built-in planner has: clustering, which is
# refused, services of Pegasus, its own programs, logs and credentials.
_WITHOUT_EFFECT = """
    *_PROXY *_PKCS12 BOTO* IRODS* S3CFG SSH_* auth.* auxillary.local aws.* catalog.*.db
    catalog.*.db.* catalog.*.timeout catalog.master.url catalog.provenance*
    catalog.replica.*.asrc catalog.replica.chunk.size catalog.replica.output*
    catalog.workflow.* change.dir change_dir cluster.arguments clusterer.* clusters.*
    collapser condor.dag.checker.jobs condor.logs.symlink create.dir credential.encrypt
    dashboard.* dir.submit.* dir.timestamp.extended enable_for_data_reuse home* html
    job.aggregator* job.runtime label log.* log4j.* metrics.* monitord.* parser.* pmc_*
    properties register* relative.submit.dir schema.* stagein.*clusters
    stageout.*clusters tag transfer.*.priority transfer.lite.* transfer.proxy
    transfer.worker.package* type user.properties version wings.* wntmp
    workflow.root.uuid
"""
# The built-in planner does not do these, and says so.
_LEFT_OUT = """
    bundle.stagein catalog.replica.directory* catalog.replica.mrc* catalog.site.repo*
    catalog.site.sites.* chain.stagein checkpoint.time condor.concurrency.limits
    container.launcher container.launcher.arguments data.reuse.scope dir.create*
    dir.exec dir.staging.mapper* dir.useTimestamp estimator* exitcode.* file.cleanup.*
    gridstart.* group integrity.checking job.priority* maxwalltime pegasus_lite_*
    remote.scheduler.* selector.* transfer.* workdir
"""
# The built-in planner does these in one way only; another would give other results or
# another judgement of a task. Setting -> the values that say that way.
ONLY = {
    "catalog.transformation.mapper": ("all",),
    "code.generator": ("condor",),
    "data.configuration": ("sharedfs",),
    "condor.arguments.quote": ("true", "yes", "on", "1"),
    "dir.storage.deep": ("false", "no", "off", "0"),
    "dir.storage.mapper": ("flat",),
    "exitcode.failuremsg": (),
    "exitcode.successmsg": (),
    "gridstart": ("kickstart",),
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


def is_left_out(name: str) -> bool | None:
    """Whether the built-in planner leaves ``name`` out; None if Pegasus has no such
    setting."""
    if name in _KNOWN:
        return _KNOWN[name]
    patterns = [pattern for pattern in _KNOWN if fnmatchcase(name, pattern)]
    return _KNOWN[max(patterns, key=len)] if patterns else None
