"""The backends, in an explicit table.

Each is imported only when it is opened, because every job of the site opens one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends.base import Backend


def _datawarp(settings: Mapping[str, str]) -> Backend:
    from pegasus_bb.runtime.backends.datawarp import DataWarp

    return DataWarp(settings)


def _slurm_lua(settings: Mapping[str, str]) -> Backend:
    from pegasus_bb.runtime.backends.slurm_lua import SlurmLua

    return SlurmLua(settings)


def _directory(settings: Mapping[str, str]) -> Backend:
    from pegasus_bb.runtime.backends.folder_tier import FolderBackend

    if not any(settings.get(key) for key in ("delay", "fail")):
        return FolderBackend(settings)
    from pegasus_bb.runtime.backends.injected_faults import InjectedFaults

    return InjectedFaults(FolderBackend(settings), settings)


BACKENDS: dict[str, Callable[[Mapping[str, str]], Backend]] = {
    "datawarp": _datawarp,
    "directory": _directory,
    "slurm-lua": _slurm_lua,
}


def open_backend(backend: str, settings: Mapping[str, str]) -> Backend:
    """The backend of that name with the tier's own keys.

    Raises UsageError if it does not exist, or if a key is invalid.
    """
    if backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise UsageError(
            f"unknown backend {backend!r}; there are {known} "
            "(key `backend` of the tier in x-storage-tiers)"
        )
    return BACKENDS[backend](settings)


def backend_of(request: Request) -> Backend:
    """As ``open_backend``, for the tier that ``request`` is made to."""
    return open_backend(request.backend, request.settings)
