"""``compare`` for a program: runs on the PFS beside runs on a burst buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pegasus_bb.api.keywords import FilePath
from pegasus_bb.api.notebook import fragment
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_count, format_seconds
from pegasus_bb.model.mean_and_error import Pair, Stat
from pegasus_bb.model.run import Run
from pegasus_bb.report.benchmark import read_benchmark
from pegasus_bb.report.columns import CLOCK
from pegasus_bb.report.compare import compare as compare_runs
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.probe import read_probe
from pegasus_bb.report.render import WIDTH, render_text
from pegasus_bb.report.report_document import SIDES, Comparison
from pegasus_bb.report.run_folder import read_run


@dataclass(frozen=True)
class RunComparison:
    """The result of ``compare``: what ``pegasus-bb report`` shows."""

    comparison: Comparison

    @property
    def headline(self) -> str:
        """What the burst buffer bought, in one sentence."""
        return self.comparison.headline

    @property
    def break_even(self) -> tuple[str, ...]:
        """The sentences of the break-even; none if a side has no records."""
        found = self.comparison.break_even
        return found.sentences if found else ()

    def to_json(self) -> dict[str, Any]:
        """Return every number, as ``report --json`` writes them (docs/report.md)."""
        return to_document(self.comparison)

    def to_text(self, width: int = WIDTH, *, color: bool = False) -> str:
        """Return the tables of the command."""
        return render_text(self.comparison, color=color, width=width)

    def to_page(self) -> str:
        """Return the page of ``report --html``. Raises UsageError without the extra
        ``pages``."""
        from pegasus_bb.report.page.reported import (
            report_page,  # templates are slow to load
        )

        return report_page({"": self.comparison})

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<RunComparison: {self.headline}>"

    def _repr_html_(self) -> str:
        """For Jupyter."""
        found = self.comparison
        rows = tuple(_rows(found))
        head = ("by the clock", *(SIDES[side] for side in found.sides))
        if found.is_comparison:
            head += ("ratio",)
        lines = (found.certainty, *found.warnings, *self.break_even)
        return fragment(
            self.headline, lines, head=head, rows=rows, right=range(1, len(head))
        )


def compare(
    pfs: FilePath | Sequence[FilePath] = (),
    bb: FilePath | Sequence[FilePath] = (),
    *,
    bench: FilePath | None = None,
    probe: FilePath | None = None,
) -> RunComparison:
    """Compare runs as ``pegasus-bb report`` does: submit directories, other folders of
    records, Kickstart records or Darshan logs. Several of a side are repetitions.

    Raises UsageError for a path without records, a run that is given twice, and if
    neither side has a run.
    """
    sides = {"pfs": _paths(pfs), "bb": _paths(bb)}
    for side, paths in sides.items():
        _check_apart(f"--{side}", paths)
    benchmark = None if bench is None else read_benchmark(Path(bench))
    samples = () if probe is None else read_probe(Path(probe))
    on_pfs, on_bb = ([_read(path) for path in paths] for paths in sides.values())
    return RunComparison(compare_runs(on_pfs, on_bb, benchmark, samples))


def _read(path: Path) -> Run:
    """Read a run. Raises UsageError if none of its records can be read."""
    run = read_run(path)
    if run.problems and not run.tasks:
        first = run.problems[0]
        more = len(run.problems) - 1
        others = f" (and {format_count(more, 'file')} more)" if more else ""
        raise UsageError(
            f"{path}: none of its records can be read. {first.file}: {first.why}"
            f"{others}"
        )
    return run


def _paths(given: FilePath | Sequence[FilePath]) -> tuple[Path, ...]:
    one = isinstance(given, (str, PathLike))
    return (Path(given),) if one else tuple(map(Path, given))  # type: ignore[arg-type]


def _check_apart(option: str, paths: tuple[Path, ...]) -> None:
    """Refuse a run that is given twice: it would pass for repetitions without
    scatter."""
    seen: dict[Path, Path] = {}
    for path in paths:
        before = seen.setdefault(path.resolve(), path)
        if before is not path:
            raise UsageError(
                f"{option} {path}: the same as {option} {before}; a repetition is "
                "another run, with a submit directory of its own"
            )


def _rows(found: Comparison) -> Iterator[tuple[str, ...]]:
    rows = [("makespan", found.workflow["makespan"])]
    rows += [(metric.head, found.clock[metric.key]) for metric in CLOCK]
    for name, pair in rows:
        if pair.is_measured:
            yield (name, *_cells(found, pair))


def _cells(found: Comparison, pair: Pair) -> Iterator[str]:
    for side in found.sides:
        stat: Stat | None = getattr(pair, side)
        yield "unknown" if stat is None else format_seconds(stat.mean)
    if found.is_comparison:
        yield f"{pair.ratio:.2f}" if pair.ratio else ""
