"""Which errors of blahp, HTCondor's gateway to Slurm, release a held job again."""

from __future__ import annotations

import re

CONDOR = "condor"  # the style of jobs of a pool, and the default
GRID = ("glite", "ssh")  # styles of jobs that reach a batch system through blahp
JOB_NOT_FOUND = "Error parsing classad or job not found"
# sbatch prints this while slurmctld does not answer.
SLURMCTLD_DOWN = "Unable to contact slurm controller"
# blahp cannot ask about a job that Slurm has. Why is often cut off: its script is older
# than Python 3.12, which prints warnings first.
NOT_ASKED = "status command failed"
# blahp stopped waiting for sbatch: its 30 seconds passed, or sbatch got SIGTERM. The
# job may have been submitted all the same.
SBATCH_TIMED_OUT = (
    "no jobId in submission script's output .*seconds timeout expired",
    "submission command failed .exit code = -15.",
)
_FEW_HOLDS = "(NumHolds < 100)"


# Without a release HTCondor holds such jobs for ever, or until Pegasus removes them.
#
# blahp does not know Slurm's state STAGE_OUT: it reports "not found" for a job whose
# buffer is being torn down (seen with 23.9). After the release it polls that job again.
# None of these submits a job twice. "Socket timed out" is
# not on the list: slurmctld may have accepted that job (seen with 24.11), so the user
# has to decide.
_ANY_JOB = (
    f'HoldReason =?= "{JOB_NOT_FOUND}" || '
    f'regexp("{SLURMCTLD_DOWN}|^{NOT_ASKED}", HoldReason)'
)
PERIODIC_RELEASE = f"({_ANY_JOB}) && {_FEW_HOLDS}"
# Jobs behind `launch` may be submitted twice: of two Slurm jobs of a node one works at
# a time, and the one that HTCondor has forgotten does not start later.
GUARDED_RELEASE = (
    f'({_ANY_JOB} || regexp("{SBATCH_TIMED_OUT[0]}", HoldReason, "s") || '
    f'regexp("{SBATCH_TIMED_OUT[1]}", HoldReason, "s")) && {_FEW_HOLDS}'
)


def is_released(reason: str) -> bool:
    """Whether HTCondor releases a job behind `launch` that it holds for ``reason``."""
    if reason == JOB_NOT_FOUND or reason.startswith(NOT_ASKED):
        return True
    timed_out = any(re.search(form, reason, re.DOTALL) for form in SBATCH_TIMED_OUT)
    return SLURMCTLD_DOWN in reason or timed_out
