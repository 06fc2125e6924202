"""A burst-buffer site on one machine: Slurm, HTCondor and an emulated DataWarp."""
