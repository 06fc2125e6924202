"""Replaces the planned prefix (`/bb/<name>`) by the real path of one job."""

from __future__ import annotations

import os

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.bbdir import SUBMIT_DIR, BBDir

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pegasus_bb.model.reservation import Request

_HOST = "//localhost"  # of a URL, before its path
_OF_NAME = "_.~%+-"


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

    def folders(self) -> list[str]:
        return [self.real, *(self._outer.folders() if self._outer else [])]

    def text(self, text: str) -> str:
        if self.prefix in text:
            text = "".join(self._parts(text))
        return self._outer.text(text) if self._outer else text

    def _parts(self, text: str) -> Iterator[str]:
        """``text`` in parts, with the real path in place of the prefix."""
        done = 0
        while (at := _planned(text, self.prefix, done)) >= 0:
            real = _find(text, self.real, done)
            if 0 <= real <= at:  # a path that is real already
                end = real + len(self.real)
                yield text[done:end]
            else:
                end = at + len(self.prefix)
                yield text[done:at] + self.real
            done = end
        yield text[done:]

    def line(self, data: bytes) -> bytes:
        """``data`` with the real path; bytes that are not UTF-8 pass unchanged."""
        text = data.decode("utf-8", "surrogateescape")
        return self.text(text).encode("utf-8", "surrogateescape")

    def argv(self, argv: Iterable[str]) -> list[str]:
        return [self.text(argument) for argument in argv]

    def environ(self, environ: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in environ.items()}


# re would do all of this, but importing it takes as long as a third of a start.
def _find(text: str, path: str, at: int) -> int:
    """Where ``path`` is in ``text`` from ``at`` on, as a whole name; or -1."""
    while (at := text.find(path, at)) >= 0:
        if not _is_of_name(text[at + len(path) :][:1]):
            break
        at += 1
    return at


def _planned(text: str, prefix: str, at: int) -> int:
    """Where a path begins with ``prefix``, from ``at`` on; or -1."""
    while (at := _find(text, prefix, at)) >= 0:
        before = text[:at]
        if not _is_of_name(before[-1:]) or _is_option(before) or before.endswith(_HOST):
            break
        at += 1
    return at


def _is_of_name(char: str) -> bool:
    """Whether ``char`` continues a name: also half of an undecodable character."""
    is_plain = char.isalnum() or char in _OF_NAME or "\udc80" <= char <= "\udcff"
    return bool(char) and is_plain


def _is_option(before: str) -> bool:
    """Whether ``before`` ends with the letter of an option, as -I in -I/bb/x."""
    word = before[-2:]
    if not (word[:1] == "-" and word[1:].isascii() and word[1:].isalpha()):
        return False
    return len(before) == 2 or before[-3].isspace() or before[-3] in "'\""


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
    return Binding(request.prefix, path, submit_dir_binding(bb, environ))


def submit_dir_binding(bb: BBDir, environ: dict[str, str]) -> Binding | None:
    """Where the programs of the submit directory are, if they came with the job."""
    planned = environ.get(SUBMIT_DIR)
    return Binding(f"{planned}/bb", bb.path) if planned else None


def _path(bb: BBDir, request: Request, environ: dict[str, str]) -> str:
    from pegasus_bb.runtime.backends.backend_table import backend_of

    backend = backend_of(request)
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
