"""Which backends there are: an explicit table.

Each is loaded when it is asked for: every job on the site asks for one.
"""

from __future__ import annotations

from typing import Callable, Dict, Mapping

from pegasus_bb.errors import UsageError
from pegasus_bb.reservation.base import Backend


def _datawarp(settings: Mapping[str, str]) -> Backend:
    from pegasus_bb.reservation.datawarp import DataWarp

    return DataWarp(settings)


def _directory(settings: Mapping[str, str]) -> Backend:
    from pegasus_bb.reservation.directory import Directory

    return Directory(settings)


BACKENDS: Dict[str, Callable[[Mapping[str, str]], Backend]] = {
    "datawarp": _datawarp,
    "directory": _directory,
}


def open_backend(backend: str, settings: Mapping[str, str]) -> Backend:
    """The backend of that name with the tier's own keys.

    Raises UsageError where there is none, or where a key cannot be read.
    """
    if backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise UsageError(
            f"unknown backend {backend!r}; there are {known} "
            "(key `backend` of the tier in x-storage-tiers)"
        )
    return BACKENDS[backend](settings)
