"""What a job has to carry because of blahp, which asks Slurm on HTCondor's behalf."""

from __future__ import annotations

import re

GRID = ("glite", "ssh")  # styles of jobs that reach a batch system through blahp
LOST_SIGHT = "Error parsing classad or job not found"
# In what sbatch says while slurmctld is away.
AWAY = "Unable to contact slurm controller"
# blahp has given up on sbatch, which may have been heard all the same: on a busy
# machine its 30 seconds pass, or it is ended with SIGTERM.
GIVEN_UP = (
    "no jobId in submission script's output .*seconds timeout expired",
    "submission command failed .exit code = -15.",
)
_FEW = "(NumHolds < 100)"


# Without it HTCondor holds such jobs for ever, or until Pegasus has them removed.
#
# blahp does not know Slurm's state STAGE_OUT: a job that is asked after in the moment
# in which its buffer is taken down is lost sight of (seen with 23.9). Released, it is
# asked after again; nothing is submitted twice.
#
# Nor is anything while slurmctld is away. "Socket timed out" is not in here: slurmctld
# may have taken that job (seen with 24.11), and a person should look.
_ANY_JOB = f'HoldReason =?= "{LOST_SIGHT}" || regexp("{AWAY}", HoldReason)'
PERIODIC_RELEASE = f"({_ANY_JOB}) && {_FEW}"
# For jobs behind `launch`, which may be submitted twice: of two Slurm jobs of a node
# one works at a time, and the one that HTCondor has given up does not begin later.
GUARDED_RELEASE = (
    f'({_ANY_JOB} || regexp("{GIVEN_UP[0]}", HoldReason, "s") || '
    f'regexp("{GIVEN_UP[1]}", HoldReason, "s")) && {_FEW}'
)


def is_released(reason: str) -> bool:
    """Whether a job behind `launch` that is held for ``reason`` goes on by itself."""
    given_up = any(re.search(words, reason, re.DOTALL) for words in GIVEN_UP)
    return reason == LOST_SIGHT or AWAY in reason or given_up
