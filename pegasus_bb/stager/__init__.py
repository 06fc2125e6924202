"""The staging service: one daemon a host that moves files for jobs and for Slurm."""
