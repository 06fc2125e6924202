"""Jobs that request space, as ``squeue`` shows them, and what would help one to begin.

One call has the data of all jobs with a name; `scontrol show job` has those of one.
Pure functions. tests/recorded/ has real output of Slurm 22.05 and 24.11.
"""

from __future__ import annotations

from pegasus_bb.runtime.backends.scontrol import SpaceJob, job_state

# `:0` prints fields in full. Slurm's text may contain blanks, bars and newlines.
_NEXT = "\x1f"
_END = "\x1e"
_FIELDS = (
    "JobID",
    "Name",
    "UserName",
    "UserID",
    "State",
    "PriorityLong",
    "Comment",
    "BurstBufferState",
    "Reason",
    "system_comment",
)
FORMAT = ",".join(f"{field}:0{_NEXT}" for field in _FIELDS) + _END
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


def parse_queue(text: str) -> list[SpaceJob]:
    """The jobs in ``text``, oldest first. Raises ValueError for any other text."""
    *records, rest = text.split(_END)
    if rest.strip():
        raise ValueError(rest)
    return sorted((_job(record) for record in records), key=lambda job: int(job.id))


def _fields(record: str) -> dict[str, str]:
    values = [" ".join(value.split()) for value in record.split(_NEXT)]
    if len(values) != len(_FIELDS) + 1 or not values[0].isdigit():
        raise ValueError(record)
    return {k: "" if v == "(null)" else v for k, v in zip(_FIELDS, values)}


def _job(record: str) -> SpaceJob:
    fields = _fields(record)
    native = fields["State"]
    return SpaceJob(
        id=fields["JobID"],
        name=fields["Name"],
        user=fields["UserName"],
        uid=int(fields["UserID"]) if fields["UserID"].isdigit() else -1,
        state=job_state(native, fields["BurstBufferState"]),
        native=native,
        reason=fields["Reason"],
        held=native == "PENDING" and fields["PriorityLong"] == "0",
        comment=fields["Comment"],
        message=fields["system_comment"] or fields["Reason"],
        fields=fields,
    )


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
