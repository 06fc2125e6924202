"""Any workflow, as hypothesis draws it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Data = dict[str, Any]
SIZES = st.integers(0, 60)  # bytes


@st.composite
def workflows(
    draw: st.DrawFn,
    *names: str,
    most: int = 12,
    sizes: st.SearchStrategy[int] = SIZES,
) -> list[Data]:
    """Up to ``most`` jobs of these programs; each reads inputs and files of earlier
    jobs."""
    jobs: list[Data] = []
    made: list[str] = []
    for number in range(draw(st.integers(1, most))):
        known = st.sampled_from(["in0", "in1", "in2", *made])
        uses: list[Data] = [
            {"lfn": lfn, "type": "input"}
            for lfn in draw(st.lists(known, unique=True, max_size=4))
        ]
        for place in range(draw(st.integers(0, 2))):
            lfn = f"f{number}-{place}"
            how = {"stageOut": draw(st.booleans()), "metadata": {"size": draw(sizes)}}
            uses.append({"lfn": lfn, "type": "output", **how})
            made.append(lfn)
        name = draw(st.sampled_from(names))
        jobs.append({"type": "job", "name": name, "id": f"J{number}", "uses": uses})
    return jobs
