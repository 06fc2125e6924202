"""Refuses what a scheduler would silently misread, or what fails at run time.

What one key may be is checked where it is read, such as in model/tiers.py. Here is what
depends on more than that: files (names, replicas, links), job_reservations (nodes, and
the limits of staging). tier_choice.py refuses tiers.
"""
