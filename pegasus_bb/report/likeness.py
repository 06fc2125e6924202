"""Whether runs may be compared at all: of one workflow, and more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pegasus_bb.model.run import Kind, Run
from pegasus_bb.units import abbreviate

_SIDES = {"pfs": "the PFS", "bb": "the burst buffer"}


def different_workflows(pfs: Sequence[Run], bb: Sequence[Run]) -> Iterator[str]:
    """Warnings: a difference of the makespans is then one of the workflows."""
    runs = [*pfs, *bb]
    labels = sorted({run.label for run in runs if run.submit_dir})
    if len(labels) > 1:
        yield (
            f"the runs are of different workflows: {', '.join(labels)}. Compare runs "
            "of one workflow."
        )
    unequal = _unequal_jobs(runs)
    if unequal:
        yield f"not every run has the same number of jobs: {abbreviate(unequal)}."


def unknown_error(pfs: Sequence[Run], bb: Sequence[Run]) -> str:
    """What one run of a side leaves open; empty if nothing, or nothing is compared."""
    sides = {"pfs": pfs, "bb": bb}
    single = [name for side, name in _SIDES.items() if len(sides[side]) == 1]
    if not (pfs and bb and single) or any(run.simulated for run in [*pfs, *bb]):
        return ""
    where = "each side" if len(single) > 1 else single[0]
    return (
        f"The error is unknown with one run on {where}: repeat it to see the scatter."
    )


def _unequal_jobs(runs: Sequence[Run]) -> list[str]:
    counts = [
        Counter(t.transformation for t in run.tasks if t.kind is Kind.COMPUTE)
        for run in runs
    ]
    names = sorted(set().union(*counts))
    return [name for name in names if len({count[name] for count in counts}) > 1]
