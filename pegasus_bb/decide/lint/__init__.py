"""Refuses what a scheduler would silently misread, or what fails at run time.

What one key may be is checked where it is read, such as in model/tiers.py. Here is what
depends on more than that: tiers (mode and workflow), files (names, replicas, links),
job_reservations (nodes, and the limits of staging).
"""
