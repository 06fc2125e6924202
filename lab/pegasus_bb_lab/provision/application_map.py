"""The applications that share a target, and the segment size that serves them all."""

from __future__ import annotations

from pegasus_bb_lab.model.applications import Application, Target
from pegasus_bb_lab.provision import equations


def least_stripes(target: Target, load: float) -> int | None:
    """The fewest stripes of a segment for which eq. 8 holds, from ``lower`` to
    ``upper``; None if none does: an overload. ``load`` is in bytes per second."""
    return equations.curve(target).least(load)


class ApplicationMap:
    """Which applications share a target (section III). Each change gives ``n_io`` anew,
    the stripes of one segment. ``is_overloaded`` if no number serves them all: then
    ``n_io`` is the upper bound, and dumps are late."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._applications: dict[str, Application] = {}
        self._change()

    def register(self, application: Application) -> None:
        self._applications[application.name] = application
        self._change()

    def unregister(self, application: Application) -> None:
        del self._applications[application.name]
        self._change()

    def _change(self) -> None:
        load = equations.load(self._applications.values())
        found = least_stripes(self._target, load)
        self.is_overloaded = found is None
        self.n_io = self._target.upper if found is None else found
