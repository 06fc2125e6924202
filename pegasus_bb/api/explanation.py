"""A decision as data: each file with its reason, and the totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from pegasus_bb.decide.decision import Chains, PlacementDecision, Selection, WeighedCut
from pegasus_bb.decide.sizing import given_capacity
from pegasus_bb.model.placement import JobReservation, PlacedFile, Placement
from pegasus_bb.model.settings import AUTO, Settings

_IF_KNOWN = ("job_reservations", "selection", "job_tier", "streams", "chains", "cuts")


@dataclass(frozen=True)
class FileGroup:
    """Files with the same tier, access and rule. Sizes in bytes."""

    tier: str
    how: str
    reason: str
    files: int
    size: int  # of those whose size is known
    unknown: int  # how many have no known size


@dataclass(frozen=True)
class Explanation:
    """A decision with its reasons. Sizes are in bytes."""

    site: str
    tier: str
    backend: str
    files: tuple[PlacedFile, ...]
    groups: tuple[FileGroup, ...]  # in the order of their first files
    need: int  # of all files on the tier whose size is known
    any_order: int  # peak in any order of the jobs: all of them
    planned_order: int  # peak if jobs run level by level, with clean-ups at once
    headroom: int | None  # per cent; None if the capacity was given
    share: int | None  # of the free tier, per cent; None if all sizes are known
    given: int | None  # bytes, before they are rounded up; None: auto
    capacity: int | None  # to reserve; None if unknown
    granularity: int
    unknown: tuple[str, ...]  # LFNs on the tier without a known size
    fit: dict[str, Any] | None = None  # how they fit into a capacity below their sum
    # By job. Mode transient: ``capacity`` is the largest; hybrid: on top of
    # ``capacity``.
    job_reservations: dict[str, JobReservation] = field(default_factory=dict)
    selection: Selection | None = None  # mode hybrid: why these jobs have one
    job_tier: str = ""  # the tier of these reservations, if it is another one
    streams: tuple[str, str] | None = None  # the policy of hints, and why
    chains: Chains | None = None  # jobs of ``job_reservations`` that run as one
    cuts: tuple[WeighedCut, ...] = ()  # jobs in a chain and apart, by the forecast

    @property
    def has_only_job_reservations(self) -> bool:
        """Whether no file lives on the tier longer than its job (mode transient)."""
        return bool(self.job_reservations) and self.selection is None

    def to_json(self) -> dict[str, Any]:
        """Return all fields, for orjson, which writes a dataclass as a mapping. Files
        and job reservations may be 100,000 each, so they are not copied."""
        data = {known.name: getattr(self, known.name) for known in fields(self)}
        for key in _IF_KNOWN:
            if not data[key]:
                del data[key]
        return data


def explain(
    decision: PlacementDecision, settings: Settings, planned_order: int
) -> Explanation:
    """Collect why each file lives where it does, and how the capacity is computed. The
    placement may lack a capacity."""
    placement = decision.placement
    tier = placement.tier
    other = placement.other_tier
    given = given_capacity(tier, settings)
    return Explanation(
        site=tier.site,
        tier=tier.name,
        backend=tier.backend,
        files=tuple(placement.files.values()),
        groups=tuple(_groups(placement)),
        need=placement.need,
        any_order=placement.need,
        planned_order=planned_order,
        headroom=settings.headroom if given == AUTO else None,
        share=settings.share if given == AUTO and placement.unknown else None,
        given=None if given == AUTO else given,
        capacity=placement.capacity or None,
        granularity=tier.granularity,
        unknown=placement.unknown,
        job_reservations=placement.job_reservations,
        selection=decision.selection,
        job_tier=other.name if other and placement.job_reservations else "",
        fit=_fit(decision),
        streams=decision.streams,
        chains=decision.chains,
        cuts=decision.cuts,
    )


def _fit(decision: PlacementDecision) -> dict[str, Any] | None:
    phases = decision.placement.phases
    moved = decision.moved
    if phases is None:
        return None
    return {
        "phases": phases.count,
        "limit": phases.limit,
        "peak": phases.peak,
        "moved": moved.lfns if moved else (),
        "benefit": moved.benefit if moved else 0,
    }


def _groups(placement: Placement) -> Iterator[FileGroup]:
    together: dict[tuple[str, str, str], list[PlacedFile]] = {}
    for file in placement.files.values():
        together.setdefault((file.tier, file.how, file.reason), []).append(file)
    for alike, files in together.items():
        known = [file.size for file in files if file.size is not None]
        yield FileGroup(*alike, len(files), sum(known), len(files) - len(known))
