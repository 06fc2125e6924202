"""Paces the results of a run that leave the tier, by bb/drain.json.

Without that file nothing is paced. Copies to the tier are never paced.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Sequence

from pegasus_bb.core.files import read_json
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.paths import is_below
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.draining.curve import Curve
from pegasus_bb.runtime.draining.pace import (
    Drain,
    DrainTargetPace,
    Pace,
    make_folder,
    say_of_transfer,
)
from pegasus_bb.runtime.transfers.transfer_methods import Way

if TYPE_CHECKING:
    from typing import Any

NOTE = "drain.json"
FOLDER = "drain"
_OVER = "over"  # in the folder: a job of the last results has begun
_SLOWEST = 2.0  # at most this factor to the prediction; a run may have paused
_BAD = (OSError, ValueError, TypeError, KeyError, AttributeError)


class Drains:
    """The paced copies of one transfer job."""

    def __init__(self, bb: BBDir, tier: Sequence[str], node: str) -> None:
        """``tier``: the folders that are removed with the reservation; ``node`` of the
        DAG."""
        self._bb = bb
        self._tier = tier
        self._node = node
        self._note = self._read()

    def leaves(self, way: Way) -> bool:
        """Whether ``way`` copies from the tier to elsewhere, and is paced."""
        return (
            bool(self._note)
            and any(is_below(way.source, folder) for folder in self._tier)
            and not any(is_below(way.target, folder) for folder in self._tier)
        )

    def pace(self, ways: Iterable[Way]) -> Pace | None:
        """The pace of those ``ways`` that leave the tier; None if none does."""
        size = self._leaving(ways)
        if not size:
            return None
        try:
            drain = self._drain(size)
            is_last = self._is_last
        except _BAD as error:
            self._ignore_note(error)
            return None
        make_folder(self._bb.file(FOLDER))
        if is_last:
            self._tell_others()
        return Pace(drain)

    def spec(self, ways: Iterable[Way]) -> dict[str, Any]:
        """The keys of a task for each of ``ways`` that leaves the tier: the rate of all
        of them together, and the deadline of the last one."""
        size = self._leaving(ways)
        if not size:
            return {}
        try:
            return self._spec(size)
        except _BAD as error:
            self._ignore_note(error)
            return {}

    def overtake(self, ways: Iterable[Way]) -> tuple[str, float] | None:
        """If ``ways`` are the last results: how the shares of this run begin, and the
        rate of them all together from now on; 0: no limit. Else None."""
        if not any(map(self.leaves, ways)):
            return None
        try:
            if self._is_last and self._may_hurry:
                return str(self._note["run"]), self._limit
        except _BAD as error:
            self._ignore_note(error)
        return None

    def _leaving(self, ways: Iterable[Way]) -> int:
        """Bytes that leave the tier."""
        return sum(_size(way.source) for way in ways if self.leaves(way))

    def _spec(self, size: int) -> dict[str, Any]:
        note = self._note
        run = str(note["run"])
        rates = {run: note["rate"] or self._limit}  # by share
        spec: dict[str, Any] = {}
        at_once = note["rate"] or (self._may_hurry and os.path.exists(self._over))
        seconds = 0.0 if at_once else self._times()[1]
        if seconds:
            spec["deadline"] = time.time() + seconds
            rates[f"{run} {self._node}"] = size / seconds
        share, rate = min(
            ((share, rate) for share, rate in rates.items() if rate),
            key=lambda each: each[1],
            default=("", 0.0),
        )
        return {**spec, "rate": max(1.0, rate), "share": share} if share else spec

    def _drain(self, size: int) -> Drain:
        note = self._note
        wait, seconds = (0.0, 0.0) if note["rate"] else self._times()
        log = os.path.join(self._bb.file(FOLDER), f"{self._node or 'transfer'}.jsonl")
        over = self._over if self._may_hurry else ""
        return Drain(str(note["run"]), size, seconds, self._targets(), log, wait, over)

    @property
    def _over(self) -> str:
        return os.path.join(self._bb.file(FOLDER), _OVER)

    @property
    def _may_hurry(self) -> bool:
        """Whether nothing waits any more once the last results have begun to leave."""
        return not (self._note["rate"] or self._note["slack"])

    @property
    def _limit(self) -> float:
        """Bytes per second of the target; 0: none."""
        return float((self._note["target"] or {}).get("limit") or 0)

    @property
    def _is_last(self) -> bool:
        """Whether the last jobs make the results of this one, as predicted."""
        window = self._note["windows"].get(self._node)
        return window is not None and window[0] >= self._note["end"]

    def _tell_others(self) -> None:
        """The run may have been faster than predicted: it must not wait for what
        still has time. In vain, they are late as before."""
        with contextlib.suppress(OSError), open(self._over, "w", encoding="ascii"):
            pass

    def _targets(self) -> list[DrainTargetPace]:
        own = self._bb.file(FOLDER)
        rate = self._note["rate"]
        target = self._note["target"]
        targets = [DrainTargetPace("of this run", own, rate)] if rate else []
        if target:
            curve = Curve(**target["curve"]) if target.get("curve") else None
            folder = target.get("registry") or own
            if not (rate and folder == own):
                targets.append(
                    DrainTargetPace(str(target["name"]), folder, self._limit, curve)
                )
        return [each for each in targets if each.limit or each.curve]

    def _times(self) -> tuple[float, float]:
        """Seconds until the first byte may go and until the last one is safe, by the
        prediction and the time that the run took so far; 0 at the end of the run."""
        gate, last, slack = (float(self._note[key]) for key in ("gate", "end", "slack"))
        window = self._note["windows"].get(self._node, (last, last, last * (1 + slack)))
        made, begin, end = map(float, window)
        slowness = self._slowness(made - gate)
        seconds = begin - made + float(self._note["aim"]) * (end - begin)
        return slowness * (begin - made), slowness * max(0.0, seconds)

    def _slowness(self, predicted: float) -> float:
        try:
            since = os.stat(self._bb.file("ready.json")).st_mtime
        except OSError:
            return 1.0
        if predicted <= 0:
            return 1.0
        return min(_SLOWEST, max(1 / _SLOWEST, (time.time() - since) / predicted))

    def _read(self) -> Any:
        try:
            note = read_json(self._bb.file(NOTE))
            return {**note, "rate": float(note["rate"])}
        except _BAD as error:
            self._ignore_note(error)
            return {}

    def _ignore_note(self, error: Exception) -> None:
        path = self._bb.file(NOTE)
        say_of_transfer(
            f"{path} cannot be used ({error!r}), so results go at full speed"
        )
        self._note = {}


def _size(path: str) -> int:
    """Bytes of a file, or of all files of a folder; 0 if unknown."""
    try:
        if not os.path.isdir(path):
            return os.path.getsize(path)
        with os.scandir(path) as entries:
            return sum(_size(entry.path) for entry in entries if not entry.is_symlink())
    except OSError:
        return 0
