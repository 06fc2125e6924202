"""The tier's own rules: where each class of file lives when nothing narrower speaks."""

from __future__ import annotations

from typing import NamedTuple

from pegasus_bb.model.placement import PFS
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.survey import INPUT, INTERMEDIATE, OUTPUT

BB = "bb"
LINK = "link"
JOB = "job"  # mode hybrid: on another tier, where the job that makes it has a room


class Rule(NamedTuple):
    """What decided where a file lives."""

    where: str  # bb | pfs | link (inputs only) | job
    reason: str  # for a person: which rule, and where it was said


def defaults(tier: Tier) -> dict[str, Rule]:
    """Role of a file -> the rule of its class."""
    said = f"tier {tier.name} of site {tier.site} says"
    inputs = BB if tier.inputs == "stage" else tier.inputs
    return {
        INPUT: Rule(inputs, f"an input: {said} inputs: {tier.inputs}"),
        INTERMEDIATE: Rule(
            tier.intermediate,
            f"made by a job and not staged out: {said} "
            f"intermediate: {tier.intermediate}",
        ),
        OUTPUT: Rule(
            tier.outputs,
            f"made by a job and staged out: {said} outputs: {tier.outputs}",
        ),
    }


def for_executables(tier: Tier) -> Rule:
    """Staged programs follow the inputs, but are never links: Pegasus changes the
    mode of what it stages, and that would be the user's own file."""
    said = f"tier {tier.name} of site {tier.site} says"
    if tier.inputs == LINK:
        return Rule(BB, "a program that is staged, always a copy")
    where = BB if tier.inputs == "stage" else tier.inputs
    return Rule(where, f"a program that is staged: {said} inputs: {tier.inputs}")


def home(where: str, role: str, tier: Tier) -> tuple[str, str]:
    """The pair (tier, how) of a placed file."""
    if role != INPUT:
        return (PFS if where == PFS else tier.name), "write"
    if where == LINK:
        return PFS, "link"
    return (tier.name if where == BB else PFS), "copy"
