"""Errors, files, processes and units: what every other package stands on."""
