"""What a job has to carry because of blahp, which asks Slurm on HTCondor's behalf."""

from __future__ import annotations

LOST_SIGHT = "Error parsing classad or job not found"
# In what sbatch says while slurmctld is away.
AWAY = "Unable to contact slurm controller"
# Without it HTCondor holds such jobs for ever, or until Pegasus has them removed.
#
# blahp does not know Slurm's state STAGE_OUT: a job that is asked after in the moment
# in which its buffer is taken down is lost sight of (seen with 23.9). Released, it is
# asked after again; nothing is submitted twice.
#
# Nor is anything while slurmctld is away. "Socket timed out" is not in here: slurmctld
# may have taken that job (seen with 24.11), and a person should look.
PERIODIC_RELEASE = (
    f'(HoldReason =?= "{LOST_SIGHT}" || regexp("{AWAY}", HoldReason))'
    " && (NumHolds < 100)"
)


def is_released(reason: str) -> bool:
    """Whether a job that is held for ``reason`` goes on by itself soon."""
    return reason == LOST_SIGHT or AWAY in reason
