"""What ``squeue --Format=...`` says about jobs that ask for space -> records.

One question tells of every job of a name what `scontrol show job` would tell of each.
Pure: starts nothing. tests/recorded/ has real answers of Slurm 22.05 and 24.11.
"""

from __future__ import annotations

from typing import Dict, List

from pegasus_bb.reservation.scontrol import Job, job_state

# Whole however long (`:0`). Slurm's own words may hold blanks, bars and newlines.
_NEXT, _END = "\x1f", "\x1e"
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


def parse_queue(text: str) -> List[Job]:
    """The jobs in such an answer, oldest first. Raises ValueError for another text."""
    *records, rest = text.split(_END)
    if rest.strip():
        raise ValueError(rest)
    return sorted((_job(record) for record in records), key=lambda job: int(job.id))


def _fields(record: str) -> Dict[str, str]:
    words = [" ".join(word.split()) for word in record.split(_NEXT)]
    if len(words) != len(_FIELDS) + 1 or not words[0].isdigit():
        raise ValueError(record)
    return {k: "" if w == "(null)" else w for k, w in zip(_FIELDS, words)}


def _job(record: str) -> Job:
    fields = _fields(record)
    native = fields["State"]
    return Job(
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
