"""Slurm's reasons why a job does not begin, and what would help.

A job whose reason is in no row begins by itself, sooner or later.
"""

from __future__ import annotations

from pegasus_bb.runtime.backends.scontrol import SpaceJob

_LESS = "ask for less in its profiles, and plan again"
_ALLOWED = (
    "`sacctmgr show assoc user=$USER` lists what you may name; plan again with that"
)
_NODES = "its nodes are down or set apart; an administrator brings them back"
_PARTITION = (
    "its partition takes no jobs now: an administrator opens it, or name another and "
    "plan again"
)
# How the reason begins -> advice; {0} is the number of the job.
_ADVICE = {
    "Account": _ALLOWED,
    "BadConstraints": "no node has what it asks for: compare ReqTRES in `scontrol show "
    f"job {{0}}` with `scontrol show nodes`; {_LESS}",
    "burst_buffer/": "mend that, then `scancel {0}`: its node is tried again",
    "BurstBufferOperation": "mend that, then `scancel {0}`: its node is tried again",
    "DependencyNeverSatisfied": "`scancel {0}`: its node is tried again",
    "FrontEndDown": _NODES,
    "InactiveLimit": _ALLOWED,
    "InvalidAccount": _ALLOWED,
    "InvalidQOS": _ALLOWED,
    "JobHeldAdmin": "an administrator says `scontrol release {0}`",
    "JobHeldUser": "`scontrol release {0}` lets it go on",
    "launch_failed": "`scontrol release {0}` tries it again",
    "NodeDown": _NODES,
    "PartitionConfig": f"its partition does not allow what it asks for: {_LESS}",
    "PartitionDown": _PARTITION,
    "PartitionInactive": _PARTITION,
    "PartitionNodeLimit": f"its partition has fewer nodes for a job: {_LESS}",
    "PartitionTimeLimit": f"its partition allows less time: {_LESS}",
    "QOSNotAllowed": _ALLOWED,
    "ReqNodeNotAvail": _NODES,
    "Reservation_deleted": "`scancel {0}`, and plan again without that reservation",
}
_NOT_LOOKED_AT = ("", "None")


def is_looked_at(job: SpaceJob) -> bool:
    """Whether Slurm has tried to start the job."""
    return job.reason not in _NOT_LOOKED_AT


def advice(job: SpaceJob) -> str:
    """What would help a job that does not begin by itself; empty if it does."""
    for begins, words in _ADVICE.items():
        if job.reason.startswith(begins):
            return words.format(job.id)
    if job.held:
        return _ADVICE["JobHeldUser"].format(job.id)
    return ""
