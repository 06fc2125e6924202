"""The paths of this run's scratch on the buffer, and where their bytes are stored."""

from __future__ import annotations

import os
from collections.abc import Mapping

from pegasus_bb.core.errors import PegasusBBError, ReservationFailed, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.results_place import ResultsPlace
from pegasus_bb.runtime.scratch_links import RealFolders, checked_path
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.transfers.transfer_jobs import parse_url

if TYPE_CHECKING:
    from typing import Any

PFS = "pfs"


class Scratch:
    """The placement of a run by path. Without one (mode off) no path is known."""

    def __init__(
        self, placement: Mapping[str, Any], binding: Binding | None, why: str = ""
    ) -> None:
        self.files: Mapping[str, dict[str, Any]] = placement.get("files", {})
        outputs = placement.get("outputs", {})
        promised = {lfn: parse_url(place) for lfn, place in outputs.items()}
        self.outputs = {lfn: url.path for lfn, url in promised.items() if url.is_local}
        self.promised = frozenset(promised)  # including remote destinations
        self._results_place = ResultsPlace()
        self.pfs_root = str(placement.get("pfs_scratch", ""))
        self.pools: Mapping[str, str] = placement.get("pools", {})
        self.has_homes = bool(self.pfs_root) and any(
            entry.get("tier") == PFS and entry.get("how") != "link"
            for entry in self.files.values()
        )
        self._planned = str(placement.get("scratch", ""))
        self._prefix = str(placement.get("prefix", ""))
        self._binding = binding
        self._why = why
        self.root = binding.text(self._planned) if binding else ""
        self.prefix = binding.real if binding else ""  # removed with the run
        self.real_folder = RealFolders()

    def check_results_place(self, path: str) -> None:
        """Raises CopyFailed if the place of results is not there as it was at
        planning."""
        fault = self._results_place.fault(path)
        if fault:
            raise CopyFailed(fault)

    @classmethod
    def of(cls, bb: BBDir, environ: Mapping[str, str]) -> Scratch:
        scratch = cls._placed(bb, environ)
        scratch._results_place = ResultsPlace.of(bb)
        return scratch

    @classmethod
    def _placed(cls, bb: BBDir, environ: Mapping[str, str]) -> Scratch:
        if not bb.has_request:
            return cls({}, None)
        from pegasus_bb.runtime.backends.backend_table import backend_of
        from pegasus_bb.runtime.storage_decision import on_the_pfs

        request = bb.request()
        decision = on_the_pfs(bb, request)
        if decision:
            return cls._on_the_pfs(bb, Binding(request.prefix, decision.prefix))
        backend = backend_of(request)
        try:
            real = backend.path(request, environ)
        except PegasusBBError as error:  # a job that needs no buffer can still run
            return cls(bb.placement(), None, str(error))
        return cls(bb.placement(), Binding(request.prefix, real))

    @classmethod
    def _on_the_pfs(cls, bb: BBDir, binding: Binding) -> Scratch:
        """The scratch of a run on the PFS: no file is stored elsewhere, and the site's
        scratch outlives the run."""
        nowhere = {"pfs_scratch": "", "pools": {}}
        scratch = cls({**bb.placement(), **nowhere}, binding)
        scratch.prefix = ""
        return scratch

    def real(self, path: str) -> str:
        """``path`` as this job sees it. Raises ReservationFailed, UsageError."""
        if "\0" in path or not path:
            raise UsageError(f"{path!r} is not a path")
        if self._binding:
            path = self._binding.text(path)
        elif self._prefix and is_below(os.path.normpath(path) + "/", self._prefix):
            raise ReservationFailed(
                f"{path}: lies on the burst buffer, which is not here: {self._why}"
            )
        return path

    def lfn_of(self, path: str) -> str | None:
        """The LFN of ``path`` in the scratch; None if it is elsewhere.

        Raises UsageError if it leads out of the scratch.
        """
        root = self.root.rstrip("/")
        if not root or not path.startswith(root + "/"):
            return None
        if ".." in path[len(root) :].split("/"):
            raise UsageError(f"{path}: leads out of the scratch directory {root}")
        lfn = os.path.normpath(path[len(root) + 1 :].lstrip("/") or ".")
        if lfn == ".":
            return None
        checked_path(root, lfn, self.real_folder)
        return lfn

    def entry(self, lfn: str | None) -> Mapping[str, Any]:
        """The placement of ``lfn``; empty if it has none."""
        return self.files.get(lfn, {}) if lfn is not None else {}

    def hint(self, lfn: str | None) -> int:
        """The write hint of a copy of ``lfn`` on the tier; 0 if it has none."""
        return int(self.entry(lfn).get("hint", 0)) if self.prefix else 0

    def home(self, lfn: str | None) -> str:
        """The path of ``lfn`` on the PFS or in a pool of the tier, if the placement
        stores it there; else empty."""
        entry = self.entry(lfn)
        root = self.pools.get(entry.get("pool", ""), "")
        if entry.get("tier") == PFS and entry.get("how") != "link":
            root = self.pfs_root
        if lfn is None or not root:
            return ""
        return checked_path(root, lfn, self.real_folder)

    def link_text(self, source: str, dest: str) -> str:
        """The text of a link at ``dest`` to ``source``.

        It is relative inside the buffer, because each job may see another path of it.
        """
        folder, name = os.path.split(source)
        target = os.path.join(self.real_folder(folder), name)
        start = self.real_folder(os.path.dirname(dest))
        buffer = self.real_folder(self.prefix) if self.prefix else ""
        if is_below(target, buffer) and is_below(f"{start}/", buffer):
            return os.path.relpath(target, start)
        return source

    @property
    def vanishing(self) -> list[str]:
        """The folders that are removed with the reservation."""
        return [self.prefix, *self.pools.values()] if self.prefix else []

    def is_root(self, path: str) -> bool:
        return bool(self.root) and os.path.normpath(path) == os.path.normpath(self.root)
