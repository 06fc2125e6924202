"""Parses ``squeue --Format=...`` for jobs that request space.

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
