"""Refuses what a scheduler would silently misread, or what fails at run time."""
