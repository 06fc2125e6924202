"""How the results of a run leave the tier: bb/drain.json, as planning wrote it.

Without that file nothing of this is used. What arrives on the tier is never held back.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from pegasus_bb.draining.curve import Curve
from pegasus_bb.draining.pace import Drain, Pace, Target, make_folder
from pegasus_bb.files import read_json
from pegasus_bb.paths import is_below
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.transfers.ways import Way

NOTE, FOLDER = "drain.json", "drain"
_OVER = "over"  # in the folder: a job of the last results has begun
_SLOWEST = 2.0  # times as long as was predicted; a run may also have lain still
_BAD = (OSError, ValueError, TypeError, KeyError, AttributeError)


class Drains:
    """Those of one transfer job."""

    def __init__(self, bb: BBDir, tier: Sequence[str], node: str) -> None:
        """``tier``: the folders that go with the reservation; ``node``: of the DAG."""
        self._bb, self._tier, self._node = bb, tier, node
        self._note = self._read()

    def leaves(self, way: Way) -> bool:
        """Whether it brings something from the tier to elsewhere, and is paced."""
        return (
            bool(self._note)
            and any(is_below(way.source, folder) for folder in self._tier)
            and not any(is_below(way.target, folder) for folder in self._tier)
        )

    def pace(self, ways: Iterable[Way]) -> Optional[Pace]:
        """For those of ``ways`` that leave; None where none does."""
        size = sum(_size(way.source) for way in ways if self.leaves(way))
        if not size:
            return None
        try:
            drain, is_last = self._drain(size), self._is_last
        except _BAD as error:
            self._cannot(error)
            return None
        make_folder(self._bb.file(FOLDER))
        if is_last:
            self._tell_others()
        return Pace(drain)

    def spec(self, ways: Iterable[Way]) -> Dict[str, Any]:
        """What the staging service is told of each of ``ways`` that leaves: the rate
        that all of them have together, and when the last one has to be safe."""
        size = sum(_size(way.source) for way in ways if self.leaves(way))
        if not size:
            return {}
        try:
            return self._spec(size)
        except _BAD as error:
            self._cannot(error)
            return {}

    def _spec(self, size: int) -> Dict[str, Any]:
        note, run = self._note, str(self._note["run"])
        limit = float((note["target"] or {}).get("limit") or 0)
        rates = {run: note["rate"] or limit}  # by share
        spec: Dict[str, Any] = {}
        _, seconds = (0.0, 0.0) if note["rate"] else self._times()
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
        over = "" if note["rate"] or note["slack"] else self._over
        return Drain(str(note["run"]), size, seconds, self._targets(), log, wait, over)

    @property
    def _over(self) -> str:
        return os.path.join(self._bb.file(FOLDER), _OVER)

    @property
    def _is_last(self) -> bool:
        """Whether this job's results were foreseen, and are made by the last jobs."""
        window = self._note["windows"].get(self._node)
        return window is not None and window[0] >= self._note["end"]

    def _tell_others(self) -> None:
        """The run may have been faster than was foreseen: it must not wait for what
        still has time. In vain, they are late as before."""
        with contextlib.suppress(OSError), open(self._over, "w", encoding="ascii"):
            pass

    def _targets(self) -> List[Target]:
        own, rate, said = (
            self._bb.file(FOLDER),
            self._note["rate"],
            self._note["target"],
        )
        targets = [Target("of this run", own, rate)] if rate else []
        if said:
            curve = Curve.of_json(said["curve"]) if said.get("curve") else None
            folder = said.get("registry") or own
            if not (rate and folder == own):
                limit = float(said.get("limit") or 0)
                targets.append(Target(str(said["name"]), folder, limit, curve))
        return [each for each in targets if each.limit or each.curve]

    def _times(self) -> Tuple[float, float]:
        """Seconds until the first byte goes and until the last one is safe, by the
        prediction and by how long the run took so far; 0 where this node belongs to
        the end."""
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
            self._cannot(error)
            return {}

    def _cannot(self, error: Exception) -> None:
        path = self._bb.file(NOTE)
        words = f"{path} cannot be used ({error!r}), so results go at full speed"
        print(f"transfer: drain: {words}", file=sys.stderr, flush=True)
        self._note = {}


def _size(path: str) -> int:
    """Bytes of a file, or of all files of a folder; 0 where it cannot be told."""
    try:
        if not os.path.isdir(path):
            return os.path.getsize(path)
        with os.scandir(path) as entries:
            return sum(_size(entry.path) for entry in entries if not entry.is_symlink())
    except OSError:
        return 0
