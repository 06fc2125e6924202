"""Paced draining: when results may leave a tier. It runs inside jobs."""
