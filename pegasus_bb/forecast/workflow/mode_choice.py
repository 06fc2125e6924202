"""Which mode to take, and all that was predicted of one planning."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegasus_bb.core.units import GIB, format_reserved
from pegasus_bb.forecast.workflow.common_cause import with_common_cause
from pegasus_bb.forecast.workflow.prediction import Prediction
from pegasus_bb.model.mean_and_error import ALIKE
from pegasus_bb.model.modes import OFF

_COUNTS = 0.01 * GIB  # byte-hours: less is shown as nothing, and saves nothing
_TWO_RUNS = (
    "--bb-history of a run on each side, without tries that failed, tells "
    "(docs/demands.md)"
)


@dataclass(frozen=True)
class ModeChoice:
    mode: str
    reason: str


def choose(
    predictions: Sequence[Prediction], refused: Container[str] = ()
) -> ModeChoice:
    """Choose the shortest run in a mode that is not ``refused``; of runs about as long,
    the one that reserves least.

    A buffer is taken only if its pessimistic end loses no more than ALIKE against the
    PFS, and its optimistic end wins more than that; both, if it rests on a guess, or
    if runs took less than was simulated. Of two modes that runs have measured the means
    decide: an end may be one odd run.
    Where computing is unknown it has to win with one job at a time as well.
    """
    shown = with_common_cause(predictions)
    allowed = [found for found in shown if found.mode not in refused]
    predictions = allowed or shown  # planning says why none would do
    off = next((p for p in predictions if p.mode == OFF.name), None)
    found = [p for p in predictions if off is None or p is off or _pays(p, off)]
    shortest = min(found, key=lambda p: p.makespan)
    alike = [p for p in found if p.makespan <= shortest.makespan * (1 + ALIKE)]
    if off is not None and shortest is not off:
        alike = [p for p in alike if p is not off]
    chosen = min(alike, key=lambda p: round(p.byte_hours / _COUNTS))
    others = [p for p in predictions if p is not off]
    fastest = min(others, key=lambda p: p.makespan, default=chosen)
    return ModeChoice(chosen.mode, _reason(chosen, shortest, off, fastest))


def _pays(found: Prediction, off: Prediction) -> bool:
    if found.is_measured and off.is_measured:
        return found.makespan < off.makespan * (1 - ALIKE)
    return _wins_alone(found, off) and _pays_as_simulated(found, off)


def _pays_as_simulated(found: Prediction, off: Prediction) -> bool:
    if found.is_doubted or off.is_doubted:
        return _wins(found, off)
    loses = found.pessimistic > off.pessimistic * (1 + ALIKE)
    if found.is_guess and found.pessimistic >= off.pessimistic * (1 - ALIKE):
        return False
    return not loses and found.optimistic < off.optimistic * (1 - ALIKE)


def _is_open(*found: Prediction) -> bool:
    """Whether jobs compute for an unknown time, which is not in it."""
    return any(each.one_by_one is not None for each in found)


def _wins_alone(found: Prediction, off: Prediction) -> bool:
    """Whatever jobs compute, they share the storage as without computing, or less. A
    run that has all of it in its time compares with none that has not."""
    if off.one_by_one is None:
        return found.one_by_one is None
    return found.one_by_one is None or found.one_by_one < off.one_by_one


def _wins(found: Prediction, off: Prediction) -> bool:
    """At both ends: see ``_is_slower``."""
    most = 1 - ALIKE
    return found.low < off.low * most and found.high < off.high * most


def _is_slower(found: Prediction, off: Prediction) -> bool:
    """At both ends: what widens both ranges is the same, the scatter of runs and what
    the tasks ask of storage."""
    least = 1 + ALIKE
    return found.low > off.low * least and found.high > off.high * least


def _reason(
    chosen: Prediction,
    shortest: Prediction,
    off: Prediction | None,
    fastest: Prediction,
) -> str:
    if off is None:
        return f"{chosen.range} is the shortest"
    if chosen is off:
        return _why_off(off, fastest)
    if chosen is not shortest:
        return (
            f"{chosen.range} is within {ALIKE:.0%} of {shortest.mode} "
            f"({shortest.range}) and reserves {_less(chosen, shortest)}"
        )
    if _is_open(chosen, off):
        return (
            f"{chosen.range}, and {off.range} on the PFS alone, without the computing "
            "that is not known: it comes on top of both, and changes nothing"
        )
    gains = (
        _gain(chosen.pessimistic, off.pessimistic),
        _gain(chosen.optimistic, off.optimistic),
    )
    least, most = sorted(gains)
    if f"{least:.0%}" == f"{most:.0%}":
        return f"{chosen.range} is the shortest, {most:.0%} less than on the PFS alone"
    at_worst = f"{least:.0%} less" if least > 0 else f"{-least:.0%} more"
    return (
        f"{chosen.range}, at best {most:.0%} less than on the PFS alone, at worst "
        f"{at_worst}"
    )


def _less(chosen: Prediction, shortest: Prediction) -> str:
    saved = shortest.byte_hours - chosen.byte_hours
    return f"{format_reserved(saved)} less" if saved >= _COUNTS / 2 else "no more"


def _why_off(off: Prediction, fastest: Prediction) -> str:
    shortest = f"{off.range} is the shortest"
    if fastest is off or not off.makespan:
        return shortest
    if _pays_as_simulated(fastest, off) and not _wins_alone(fastest, off):
        return (
            f"{off.range}, and {fastest.mode} {fastest.range}, without the computing "
            "that is not known: on that depends which is faster; --bb-history of a run "
            "tells"
        )
    if fastest.is_guess and fastest.low < off.low * (1 - ALIKE):
        return (
            f"{off.range}, but what the tasks ask of storage was never measured: "
            f"{fastest.mode} may take {fastest.range}; {_one_run(fastest.mode)}"
        )
    if fastest.low > off.high:
        if fastest.range == off.range:
            return f"{off.range}, and {fastest.mode} is no shorter"
        return f"{shortest}, and {fastest.mode} would take {fastest.range}"
    is_open = off.is_range or fastest.is_range
    surely = "surely " if is_open else ""
    why = (
        f"{off.range}, and {fastest.mode} ({fastest.range}) is not {surely}more than "
        f"{ALIKE:.0%} shorter"
    )
    if fastest.byte_hours:
        why += f", and it reserves {format_reserved(fastest.byte_hours)}"
    return f"{why}; {_what_settles(off, fastest)}" if is_open else why


def _what_settles(off: Prediction, fastest: Prediction) -> str:
    """Name the run that would tell which of both is faster."""
    missing = [each.mode for each in (off, fastest) if not each.is_measured]
    if not missing:
        return "more runs of both narrow it"
    return _TWO_RUNS if len(missing) > 1 else _one_run(missing[0])


def _one_run(mode: str) -> str:
    return (
        f"one run settles it: plan it with --bb-mode {mode}, all else as here, and "
        "name it as --bb-history"
    )


def _gain(mine: float, of_off: float) -> float:
    return 1 - mine / of_off if of_off else 0.0


@dataclass(frozen=True)
class Basis:
    """What the figures of a prediction come from, and what is not in them."""

    speeds: str  # where they are declared
    history: str  # of which run the times are; empty if of none
    unknown_sizes: tuple[str, ...]  # LFNs that count as empty
    unknown_times: int  # jobs that count as if they did not compute
    sources: Mapping[str, int]  # what tells computing from operations -> of how many
    notes: Mapping[str, int]  # why that is not better known -> of how many jobs
    remarks: tuple[str, ...] = ()  # what was assumed, in sentences


@dataclass(frozen=True)
class Predicted:
    modes: tuple[Prediction, ...]
    basis: Basis

    @property
    def rows(self) -> tuple[Prediction, ...]:
        """The modes as they are shown."""
        return self.modes

    def to_json(self) -> dict[str, Any]:
        modes = [found.to_json() for found in self.rows]
        return {"modes": modes, **vars(self.basis)}


@dataclass(frozen=True)
class Compared(Predicted):
    choice: ModeChoice
    refused: Mapping[str, str]  # mode -> why the workflow cannot be planned in it

    @property
    def rows(self) -> tuple[Prediction, ...]:
        """What one mode shows of another is in them."""
        return with_common_cause(self.modes)

    @property
    def slower(self) -> tuple[str, ...]:
        """Modes whose tier is slower than the PFS at both ends, in sentences."""
        off = next((p for p in self.rows if p.mode == OFF.name), None)
        if off is None:
            return ()
        return tuple(
            f"{found.mode} is {'' if found.low > off.high else 'probably '}slower than "
            f"the PFS alone: {found.range} against {off.range}"
            for found in self.rows
            if found is not off and _is_slower(found, off)
        )

    def to_json(self) -> dict[str, Any]:
        chosen = {"choice": self.choice.mode, "reason": self.choice.reason}
        return {**super().to_json(), **chosen, "refused": dict(self.refused)}
