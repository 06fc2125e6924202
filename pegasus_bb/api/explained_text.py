"""What ``explain`` says, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.api.explanation import Explanation
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import GIB, abbreviate, format_files, format_size
from pegasus_bb.decide.decision import PlacementDecision, by_batch_job
from pegasus_bb.model.backends import KINDS
from pegasus_bb.model.placement import JobReservation
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.planner.plan_summary import (
    fit_lines,
    node_disk_lines,
    reservation_lines,
)

TableRow = tuple[str, str, str, str, str]  # of a table: files, size, tier, how, reason


def table_lines(rows: Iterator[TableRow]) -> list[str]:
    return columns(rows, right=(1,))


def total_lines(
    explanation: Explanation, decision: PlacementDecision, settings: Settings
) -> list[str]:
    """Write what stands below the table: job reservations, bytes, capacity, and how
    files fit into it."""
    jobs = job_reservations(explanation, decision.placement.job_tier)
    fit = [*fit_lines(decision), *reservation_lines(decision)]
    fit += node_disk_lines(decision, settings)
    return [*jobs, "", *_totals(explanation), *fit]


def job_reservations(explanation: Explanation, tier: Tier) -> Iterator[str]:
    where = f" on {explanation.job_tier}" if explanation.job_tier else ""
    found = by_batch_job(explanation.job_reservations, explanation.chains)
    for jobs, own in found.items():
        owner = "job" if len(jobs) == 1 else "chain"
        shared = f", {len(own.share)} shared" if own.share else ""
        stay = "stays" if len(own.stay) == 1 else "stay"
        shared += f", {len(own.stay)} {stay}" if own.stay else ""
        yield (
            f"{owner} {abbreviate(jobs)}: {format_size(own.capacity)}{where} for "
            f"{format_size(own.need)}, {format_files(len(own.stage_in))} in, "
            f"{len(own.stage_out)} out{shared}{_asked(own, tier)}"
        )


def _asked(own: JobReservation, tier: Tier) -> str:
    """How the job asks for that much of its node, and what an hour costs."""
    asked = f", asks: {tier.request.of(own.capacity)}" if tier.request else ""
    if tier.price is None:
        return asked
    return f"{asked}, {tier.price * own.capacity / GIB:.3g} an hour"


def group_rows(explanation: Explanation) -> Iterator[TableRow]:
    """Yield the groups, below a head."""
    yield ("files", "size", "tier", "how", "reason")
    for each in explanation.groups:
        unknown = f"{each.unknown} unknown" if each.unknown else ""
        known = format_size(each.size) if each.unknown < each.files else ""
        size = " + ".join(filter(None, (known, unknown)))
        yield (format_files(each.files), size, each.tier, each.how, each.reason)


def file_rows(explanation: Explanation) -> Iterator[TableRow]:
    yield ("LFN", "size", "tier", "how", "reason")
    for file in explanation.files:
        size = "unknown" if file.size is None else format_size(file.size)
        yield (file.lfn, size, file.tier, file.how, file.reason)


def _totals(explanation: Explanation) -> list[str]:
    lines: list[str] = []
    if not explanation.has_only_job_reservations:
        lines += _live(explanation)
    if explanation.unknown:
        names = abbreviate(sorted(explanation.unknown))
        lines.append(f"size unknown, not counted: {names}")
    if explanation.streams:
        policy, why = explanation.streams
        lines.append(f"streams: by {policy}" + (f" (auto: {why})" if why else ""))
    lines.append(_capacity(explanation))
    return lines


def _live(explanation: Explanation) -> list[str]:
    tier = explanation.tier
    least = _at_least(explanation)
    return [
        f"needed on tier {tier}: {least}{format_size(explanation.any_order)} in any "
        "order of the jobs, even if all clean-ups run last",
        "needed if jobs run level by level with clean-ups between: "
        f"{least}{format_size(explanation.planned_order)}",
    ]


def _at_least(explanation: Explanation) -> str:
    """Return what stands before a sum that lacks files without a known size."""
    return "at least " if explanation.unknown else ""


def _capacity(explanation: Explanation) -> str:
    if explanation.capacity is None:
        return "capacity: none; the error below says why"
    each = "up to " if explanation.has_only_job_reservations else ""
    per = " for each job" if explanation.has_only_job_reservations else ""
    is_reserved = KINDS[explanation.backend].has_reservations
    free = "" if is_reserved else "; it has to be free on its node, nothing is reserved"
    return (
        f"capacity: {each}{format_size(explanation.capacity)}{per} "
        f"({_origin(explanation)}, in steps of "
        f"{format_size(explanation.granularity)}) on {explanation.site}, "
        f"{explanation.backend}{free}"
    )


def _origin(explanation: Explanation) -> str:
    given = explanation.given
    if given is None and explanation.unknown:
        return f"{explanation.share} % of what is free, because sizes are not known"
    if given is None:
        return f"{explanation.headroom} % headroom"
    return (
        "as given" if given == explanation.capacity else f"{format_size(given)} given"
    )
