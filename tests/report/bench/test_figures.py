"""From many cells to the few figures of the cost model, and to its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import MIB
from pegasus_bb.report.bench.cells import Cell, Measurement
from pegasus_bb.report.bench.figures import check_speeds, figures
from pegasus_bb.report.bench.measured_tier import MeasuredFolder
from pegasus_bb.report.bench.session import TierSession

from .conftest import cell


@pytest.fixture
def tier(tier_place: MeasuredFolder) -> TierSession:
    return TierSession(tier_place, openings=[200e-6])


def measured(tier: TierSession, cell: Cell, write: float, read: float) -> None:
    """In MiB per second of all processes."""
    one = Measurement(cell)
    size = cell.total / MIB
    one.add(size / write, size / read, warm=False)
    tier.measurements.append(one)


def test_rates_of_all_processes_and_of_one(tier: TierSession) -> None:
    for processes, write, read in ((1, 100, 200), (4, 300, 900), (8, 250, 950)):
        measured(tier, cell(processes), write, read)
    assert figures(tier).speeds == {
        "read": "950MiB/s",
        "write": "300MiB/s",
        "job_read": "200MiB/s",
        "job_write": "100MiB/s",
        "latency": "200.0us",
    }


@pytest.mark.parametrize(
    ("path", "names", "word"),
    [
        ("sites.yml", ["pfs"], "it exists; name a new file"),
        ("new.yml", ["bb"], "measure it too: --tier pfs=DIR"),
        ("none/new.yml", ["pfs"], "is no folder of yours"),
    ],
)
def test_a_file_that_cannot_be_made_is_refused_before_measuring(
    path: str, names: list[str], word: str, tmp_path: Path
) -> None:
    (tmp_path / "sites.yml").touch()
    with pytest.raises(UsageError, match=word):
        check_speeds(tmp_path / path, names)
