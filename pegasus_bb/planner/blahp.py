"""What a job has to carry because of blahp, which asks Slurm on HTCondor's behalf."""

from __future__ import annotations

LOST_SIGHT = "Error parsing classad or job not found"
# blahp does not know Slurm's state STAGE_OUT: a job that is asked after in the moment
# in which its buffer is taken down is put on hold for ever (seen with 23.9). Released,
# it is asked after again; nothing is submitted twice.
PERIODIC_RELEASE = f'(HoldReason =?= "{LOST_SIGHT}") && (NumHolds < 100)'
