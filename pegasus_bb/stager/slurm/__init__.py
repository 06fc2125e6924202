"""Slurm's side of the site's service: jobs and buffers, as burst_buffer.lua asks."""
