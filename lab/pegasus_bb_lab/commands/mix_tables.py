"""The cases of a study as a table, and how each differs from the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.core.text import columns
from pegasus_bb_lab.mix.study import Result
from pegasus_bb_lab.mix.study_text import case_rows, difference_rows

_BANDWIDTHS = 5  # columns, with that of the case


def study_lines(results: Sequence[Result], width: int | None = None) -> Iterator[str]:
    """``width``: of the terminal, if it is one."""
    n = len(results[0].outcomes)
    base = results[0]
    interval = " and half of its 95 % confidence interval" if n > 1 else ""
    yield f"{n} {'seed' if n == 1 else 'seeds'}, mean{interval}"
    yield from _table([*case_rows(results)], width)
    for result in results:
        if result.incomplete:
            yield (
                f"{result.case.name}: {result.incomplete} of {n} campaigns were given "
                "up; they took ten times the time that they need without faults"
            )
        on_pfs = result.estimate("dumps_on_pfs")
        if on_pfs is not None and on_pfs.mean:
            yield (
                f"{result.case.name}: {on_pfs.mean:.0f} checkpoints of a campaign "
                "found no room on the buffer and went to the PFS"
            )
    for result in results[1:]:
        yield ""
        yield f"{result.case.name}, against {base.case.name}:"
        rows = difference_rows(result, base)
        yield from columns(((f"  {what}", *more) for what, *more in rows), right=(1,))


def _table(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """One table, or one below the other if it is wider than the terminal."""
    lines = columns(rows, right=range(1, 7))
    if width is None or max(map(len, lines)) <= width:
        yield from lines
        return
    yield from columns((row[:_BANDWIDTHS] for row in rows), right=range(1, 5))
    yield ""
    rest = ((row[0], *row[_BANDWIDTHS:]) for row in rows)
    yield from columns(rest, right=range(1, 3))
