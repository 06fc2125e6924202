"""Parses the output of ``scontrol show burst`` and ``scontrol show job``.

Pure functions. Slurm's src/api/burst_buffer_info.c and job_info.c define the format;
tests/recorded/ has real samples.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from pegasus_bb.core.light_typing import NamedTuple
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.base import PoolSpace

# Slurm's states (bb_state_string in slurm_protocol_defs.c) -> ours. A persistent buffer
# is only ever `allocated`; the others occur on buffers of jobs.
BUFFER_STATES: dict[str, State] = {
    "pending": State.PENDING,
    "allocating": State.PENDING,
    "allocated": State.READY,
    "deleting": State.DELETING,
    "deleted": State.ABSENT,
    "staging-in": State.STAGING_IN,
    "staged-in": State.READY,
    "pre-run": State.READY,
    "alloc-revoke": State.FAILED,
    "running": State.READY,
    "suspended": State.READY,
    "suspend": State.READY,  # the spelling of bb_state_num
    "post-run": State.STAGING_OUT,
    "staging-out": State.STAGING_OUT,
    "staged-out": State.STAGING_OUT,
    "teardown": State.DELETING,
    "teardown-fail": State.FAILED,
    "complete": State.ABSENT,
}

# BurstBufferState of a job whose request is not met yet.
_NOT_MADE = ("", "pending", "allocating")

# JobState of the zero-node job that requests a buffer. Slurm leaves a refused job
# PENDING for ever, with priority 0: it is held.
JOB_STATES: dict[str, State] = {
    "PENDING": State.PENDING,
    "CONFIGURING": State.PENDING,
    "RUNNING": State.PENDING,
    "SUSPENDED": State.PENDING,
    "STOPPED": State.PENDING,
    "COMPLETING": State.ABSENT,  # as COMPLETED: it creates nothing any more
    "STAGE_OUT": State.ABSENT,
    "REQUEUED": State.PENDING,
    "RESIZING": State.PENDING,
    "SIGNALING": State.PENDING,
    "COMPLETED": State.ABSENT,
    "BOOT_FAIL": State.FAILED,
    "CANCELLED": State.FAILED,
    "DEADLINE": State.FAILED,
    "FAILED": State.FAILED,
    "LAUNCH_FAILED": State.FAILED,
    "NODE_FAIL": State.FAILED,
    "OUT_OF_MEMORY": State.FAILED,
    "PREEMPTED": State.FAILED,
    "RECONFIG_FAIL": State.FAILED,
    "REQUEUE_FED": State.FAILED,
    "REQUEUE_HOLD": State.FAILED,
    "REVOKED": State.FAILED,
    "SPECIAL_EXIT": State.FAILED,
    "TIMEOUT": State.FAILED,
}

INFINITE = (1 << 64) - 1  # what Slurm's INFINITE64 stands for

_UNITS = {"": 1, "B": 1, "BYTES": 1}
for _power, _unit in enumerate("KMGTP", 1):
    _UNITS[f"{_unit}B"] = 1000**_power
    _UNITS[_unit] = _UNITS[f"{_unit}IB"] = 1024**_power

_BUFFER = "    Name="  # begins the row of a persistent buffer


class PersistentBuffer(NamedTuple):
    """A persistent buffer: one ``Name=`` row below "Allocated Buffers:"."""

    name: str
    state: State
    native: str  # Slurm's state
    size: int  # bytes
    created: float  # seconds since the epoch, 0.0 if unknown
    pool: str  # empty after a restart of slurmctld
    user: str
    uid: int  # -1 if unknown


class JobSpace(NamedTuple):
    """The space of one job: one ``JobID=`` row below "Allocated Buffers:"."""

    job: str  # its number
    size: int  # bytes
    created: float  # seconds since the epoch, 0.0 if unknown
    uid: int
    pool: str
    native: str  # Slurm's state


class Plugin(NamedTuple):
    """One burst-buffer plugin with its pools (default first) and buffers."""

    name: str
    flags: tuple[str, ...]
    pools: list[PoolSpace]
    buffers: list[PersistentBuffer]
    spaces: list[tuple[str, int]]  # pool ("": unknown) and bytes of every row
    header: dict[str, str]  # limits and users, by Slurm's names
    jobs: list[JobSpace]

    def pool(self, name: str) -> PoolSpace | None:
        return next((p for p in self.pools if name in ("", p.name)), None)

    def unaccounted(self, pool: PoolSpace) -> int:
        """Bytes of ``pool`` in use by nothing that Slurm knows.

        Slurm counts in UsedSpace what it hides (Flags=PrivateData).
        """
        shown = sum(size for name, size in self.spaces if name in ("", pool.name))
        return max(0, pool.total - pool.free - max(shown, pool.used))


class SpaceJob(NamedTuple):
    """A job that requests space, from scontrol or squeue."""

    id: str
    name: str
    user: str
    uid: int
    state: State
    native: str  # JobState
    reason: str
    held: bool  # priority 0: Slurm will not try again by itself
    comment: str  # the submitter's
    message: str  # SystemComment, else the reason: for the user
    fields: dict[str, str]


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """``Key=value`` pairs; a value ends at the next blank that is followed by ``Key=``.

    Slurm's keys begin with a capital, so `#BB create_persistent name=x` is a value.
    Only the separators that Slurm prints count as blanks: a name may contain any other.
    """
    starts = list(re.finditer(r"(?:^|[ \n])([A-Z][A-Za-z/:\[\]0-9_-]*)=", text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends):
        yield match.group(1), text[match.end() : end].strip(" \n")


def fields_of(text: str) -> dict[str, str]:
    """``tokens`` as a mapping; the first value of a key counts, "(null)" is empty.

    Free text (SystemComment) comes late in a record, so it cannot replace a field.
    """
    fields: dict[str, str] = {}
    for key, value in tokens(text):
        fields.setdefault(key, "" if value == "(null)" else value)
    return fields


def size_of(text: str) -> int:
    """Bytes of a size as Slurm prints it; 0 for one that is not in bytes (``4N``)."""
    if text.upper() in ("INFINITE", "UNLIMITED"):
        return INFINITE
    match = re.fullmatch(r"([0-9]+) ?([A-Za-z]*)", text)
    factor = _UNITS.get(match.group(2).upper()) if match else None
    return int(match.group(1)) * factor if match and factor else 0


def time_of(text: str) -> float:
    """Seconds since the epoch, from Slurm's standard time format, in local time."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except (ValueError, OverflowError):
        return 0.0


def user_of(text: str) -> tuple[str, int]:
    """``wfuser(1000)`` -> name and uid; -1 if there is no number."""
    match = re.fullmatch(r"(.*)\(([0-9]+)\)", text)
    return (match.group(1), int(match.group(2))) if match else (text, -1)


def parse_burst(text: str) -> list[Plugin]:
    """The plugins in the output of ``scontrol show burst``, with or without -o, -v."""
    blocks: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith("Name="):
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
    return [_plugin(block) for block in blocks]


def _plugin(lines: list[str]) -> Plugin:
    header: list[str] = []
    rows: list[str] = []
    target: list[str] | None = header
    for line in lines:
        if re.fullmatch(r"  [A-Z][A-Za-z ]+:\s*", line):
            target = rows if line.strip() == "Allocated Buffers:" else None
        elif target is not None and (target is header or line.startswith("    ")):
            target.append(line)
    fields = fields_of(" ".join(header))
    buffers = [fields_of(row) for row in rows if row.startswith(_BUFFER)]
    others = [fields_of(row) for row in rows if not row.startswith(_BUFFER)]
    return Plugin(
        name=fields.get("Name", ""),
        flags=tuple(flag for flag in fields.get("Flags", "").split(",") if flag),
        pools=_pools(" ".join(header), fields),
        buffers=[_buffer(row) for row in buffers],
        spaces=[(row.get("Pool", ""), _size(row)) for row in (*buffers, *others)],
        header=fields,
        jobs=[space for space in map(_job_space, others) if space is not None],
    )


def _pools(header: str, fields: dict[str, str]) -> list[PoolSpace]:
    pools = [_pool(fields.get("DefaultPool", ""), fields)]
    for part in re.split(r"\s(?=PoolName\[[0-9]+\]=)", header)[1:]:
        other = fields_of(part)
        pools.append(_pool(next(iter(other.values())), other))
    return pools


def _pool(name: str, fields: dict[str, str]) -> PoolSpace:
    """Older versions of Slurm print no FreeSpace."""
    total, used = (size_of(fields.get(key, "")) for key in ("TotalSpace", "UsedSpace"))
    return PoolSpace(
        name=name,
        granularity=size_of(fields.get("Granularity", "")) or 1,
        total=total,
        free=size_of(fields["FreeSpace"]) if "FreeSpace" in fields else total - used,
        used=used,
    )


def _size(row: dict[str, str]) -> int:
    return size_of(row.get("Size", ""))


def _job_space(fields: dict[str, str]) -> JobSpace | None:
    number = re.match(r"[0-9]+", fields.get("JobID", ""))
    if number is None:
        return None
    return JobSpace(
        job=number.group(),
        size=_size(fields),
        created=time_of(fields.get("CreateTime", "")),
        uid=user_of(fields.get("UserID", ""))[1],
        pool=fields.get("Pool", ""),
        native=fields.get("State", ""),
    )


def _buffer(fields: dict[str, str]) -> PersistentBuffer:
    user, uid = user_of(fields.get("UserID", ""))
    native = fields.get("State", "")
    return PersistentBuffer(
        name=fields["Name"],
        state=BUFFER_STATES.get(native, State.UNKNOWN),
        native=native,
        size=_size(fields),
        created=time_of(fields.get("CreateTime", "")),
        pool=fields.get("Pool", ""),
        user=user,
        uid=uid,
    )


def parse_jobs(text: str) -> list[SpaceJob]:
    records = re.split(r"^(?=JobId=)", text, flags=re.MULTILINE)
    return [_job(record) for record in records if record.startswith("JobId=")]


def _job(record: str) -> SpaceJob:
    fields = fields_of(record)
    user, uid = user_of(fields.get("UserId", ""))
    native = fields.get("JobState", "").split(" ")[0]
    reason = fields.get("Reason", "")
    return SpaceJob(
        id=fields["JobId"].split(" ")[0],
        name=fields.get("JobName", ""),
        user=user,
        uid=uid,
        state=job_state(native, fields.get("BurstBufferState", "")),
        native=native,
        reason=reason,
        held=native == "PENDING" and fields.get("Priority") == "0",
        comment=fields.get("Comment", ""),
        message=" ".join(fields.get("SystemComment", "").split()) or reason,
        fields=fields,
    )


def job_state(native: str, buffer: str) -> State:
    """The state of a create job, from those of the job and its buffer: a job may wait
    for a scheduling pass although its buffer has been made."""
    state = JOB_STATES.get(native, State.UNKNOWN)
    met = state is State.PENDING and buffer not in _NOT_MADE
    return State.ABSENT if met else state
