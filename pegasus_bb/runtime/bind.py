"""Replaces the planned prefix (`/bb/<name>`) by the real path of one job."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from re import Pattern

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir

# Characters that continue a name, including surrogates of undecodable bytes.
_NAME = r"\w.~%+\-\udc80-\udcff"
# Before a path: no name, an option letter (-I/bb/x, in quotes or not), or the host of
# a URL.
_BEFORE = rf"(?:(?<![{_NAME}])|(?<=^-[A-Za-z])|(?<=[\s'\"]-[A-Za-z])|(?<=//localhost))"


class Binding:
    """One planned prefix and its real path in this job.

    Binds only at a path boundary (`/bb/pbbX/f`, not `/bb/pbbXY`), and is idempotent:
    a path that is already real stays as it is, even if it ends like the prefix
    (`/fast/bb/pbbX`).
    """

    def __init__(self, prefix: str, real: str, outer: Binding | None = None) -> None:
        """``outer``: the binding of the folder that contains ``prefix``, if any."""
        self._outer = outer
        self.prefix = prefix.rstrip("/")
        self.real = real.rstrip("/")
        planned = rf"{_BEFORE}{re.escape(self.prefix)}(?![{_NAME}])"
        # An already real path is matched first, and replaced by itself.
        pattern = rf"{re.escape(self.real)}(?![{_NAME}])|{planned}"
        self._pattern: Pattern[str] = re.compile(pattern)

    def folders(self) -> list[str]:
        return [self.real, *(self._outer.folders() if self._outer else [])]

    def text(self, text: str) -> str:
        if self.prefix in text:
            text = self._pattern.sub(lambda match: self.real, text)
        return self._outer.text(text) if self._outer else text

    def line(self, data: bytes) -> bytes:
        """``data`` with the real path; bytes that are not UTF-8 pass unchanged."""
        text = data.decode("utf-8", "surrogateescape")
        return self.text(text).encode("utf-8", "surrogateescape")

    def argv(self, argv: Iterable[str]) -> list[str]:
        return [self.text(argument) for argument in argv]

    def environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in environ.items()}


def shared_binding(bb: BBDir, environ: dict[str, str]) -> Binding | None:
    """The planned prefix and its real path; None if jobs share no reservation.

    Raises ReservationFailed, UsageError.
    """
    if not bb.has_request:
        return None
    request = bb.request()
    path = _path(bb, request, environ)
    if not os.path.isabs(path) or any(c < " " or c in "\"\\'" for c in path):
        raise ReservationFailed(
            f"reservation {request.name}: its path {path!r} cannot be used; it must be "
            "a full path without quotes, backslashes and control characters"
        )
    return Binding(request.prefix, path)


def _path(bb: BBDir, request: Request, environ: dict[str, str]) -> str:
    from pegasus_bb.runtime.backends.backend_table import open_backend

    backend = open_backend(request.backend, request.settings)
    if request.fallback == "fail":
        return backend.path(request, environ)
    from pegasus_bb.runtime.storage_decision import (
        PFS,
        TIER,
        StorageDecision,
        decide_storage,
        read_decision,
    )

    decision = read_decision(bb)
    if decision and decision.to == PFS:
        return decision.prefix
    path = backend.path(request, environ)
    # The reservation is there: decide for it, so that no gate moves the run to the PFS.
    decision = decision or decide_storage(bb, StorageDecision(TIER))
    return decision.prefix if decision.to == PFS else path
