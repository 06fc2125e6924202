"""Burst buffers for Pegasus workflows, with no change to any task."""
