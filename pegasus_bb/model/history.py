"""What an earlier run of a workflow has shown: how long tasks compute, what they read
and write, how large their files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pegasus_bb.model.placement import PFS
from pegasus_bb.model.workflow import Job

_LONGEST = 1e9  # seconds; sums of such times are finite


@dataclass(frozen=True, slots=True)
class Past:
    """One task, or the median of several. ``None``: unknown."""

    duration: float  # seconds from start to exit
    user: float | None = None  # seconds of processor in the task itself
    read: int | None = None  # bytes, caches included
    written: int | None = None
    kernel: float | None = None  # seconds of processor in the kernel, for the task
    calls: int | None = None  # that read or wrote; pipes and terminals included
    metadata: int | None = None  # that open, close, ask for, sync or rename: Darshan's
    meta_time: float | None = None  # seconds in those, of all processes: Darshan's
    together: float | None = (
        None  # tasks that ran at a time with it, and it, on average
    )


@dataclass(frozen=True)
class History:
    """Earlier runs, all on one place."""

    place: str = PFS  # the tier that held the scratch, or pfs
    jobs: Mapping[str, Past] = field(default_factory=dict)  # by id in the workflow
    transformations: Mapping[str, Past] = field(default_factory=dict)  # by full name
    programs: Mapping[str, Past] = field(default_factory=dict)  # by name alone
    sizes: Mapping[str, int] = field(default_factory=dict)  # bytes by LFN
    mode: str = "off"  # that it was in: off as well where it fell back to the PFS
    makespan: float | None = None  # seconds of the whole run, without the next
    wait: float | None = None  # seconds that its reservation was waited for, and came
    source: str = ""  # where the records are, for a person

    @property
    def tells(self) -> bool:
        return bool(self.jobs or self.transformations or self.programs)

    def of(self, job: str, transformation: str) -> Past | None:
        """What is known of ``job``: its own past, else that of its kind."""
        return (
            self.jobs.get(job)
            or self.transformations.get(transformation)
            or self.programs.get(transformation.rpartition("::")[2].partition(":")[0])
        )


def declared(job: Job) -> Past | None:
    """What the job's own profile ``pegasus: runtime`` says, in seconds; None where that
    is no time that a task could take."""
    said = job.profile("pegasus", "runtime") if "profiles" in job.data else None
    try:
        seconds = float(said) if said else -1.0
    except ValueError:
        return None
    return Past(seconds) if 0 <= seconds <= _LONGEST else None  # nan is neither
