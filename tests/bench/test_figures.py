"""From many cells to the few figures of the cost model, and to its file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.figures import Figures, figures
from pegasus_bb.bench.measurement import Measurement
from pegasus_bb.bench.plan import Cell
from pegasus_bb.bench.session import Tier
from pegasus_bb.bench.speedsfile import open_speeds
from pegasus_bb.errors import NotMeasured, UsageError
from pegasus_bb.model.document import load
from pegasus_bb.model.speeds import KEY, Speed, read_speeds
from pegasus_bb.units import GIB, MIB

from .conftest import Stage, cell


@pytest.fixture
def tier(stage: Stage) -> Tier:
    return Tier(stage.place(), openings=[100e-6, 300e-6])


def measured(
    tier: Tier,
    cell: Cell,
    write: float,
    read: float,
    cache: Cache = Cache.DROPPED,
) -> None:
    """In MiB per second of all processes."""
    one = Measurement(tier.place, cell)
    size = cell.total / MIB
    one.add(size / write, size / read, cache, 1.0)
    tier.measurements.append(one)


def test_rates_of_all_processes_and_of_one(tier: Tier) -> None:
    for processes, write, read in ((1, 100, 200), (4, 300, 900), (8, 250, 950)):
        measured(tier, cell(processes), write, read)
    assert figures(tier).as_speeds() == {
        "read": "950MiB/s",
        "write": "300MiB/s",
        "job_read": "200MiB/s",
        "job_write": "100MiB/s",
        "latency": "200.0us",
    }


def test_without_a_single_process_a_job_is_a_share(tier: Tier) -> None:
    measured(tier, cell(4), 400, 800)
    found = figures(tier)
    assert (found.job_write, found.job_read) == (100 * MIB, 200 * MIB)
    assert found.source.endswith("a job is one of 4")


def test_only_the_largest_blocks_count(tier: Tier) -> None:
    """Smaller ones may be faster."""
    measured(tier, cell(1), 500, 500)
    measured(tier, cell(1, GIB), 100, 100)
    assert figures(tier).write == 100 * MIB


def test_warm_reads_count_only_without_others(tier: Tier) -> None:
    measured(tier, cell(1, GIB), 100, 9000, Cache.WARM)
    assert figures(tier).read == 9000 * MIB
    measured(tier, cell(1, MIB), 70, 80)
    found = figures(tier)
    assert (found.write, found.read, found.job_read) == (100 * MIB, 80 * MIB, 80 * MIB)


def test_a_slow_tier_has_more_digits(tier: Tier) -> None:
    measured(tier, cell(1), 1.5, 0.0001)
    said = figures(tier).as_speeds()
    assert (said["write"], said["read"]) == ("1536KiB/s", "1KiB/s")


def test_nothing_measured_is_no_figure(tier: Tier) -> None:
    with pytest.raises(NotMeasured, match=r"tier bb: .* --within"):
        figures(tier)


FIGURES = Figures(
    300 * MIB, 200 * MIB, 30 * MIB, 20 * MIB, 0.00015, cell(1)
).as_speeds()


def test_the_cost_model_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "speeds.yml"
    open_speeds(path, "a: site", ["pfs", "bb"]).put(
        {"pfs": FIGURES, "bb": FIGURES}, "measured"
    )
    found = read_speeds(load(path, {}), (KEY,), "a: site")
    assert found is not None
    assert found.pfs == found.places["bb"]
    assert found.pfs == Speed(300 * MIB, 200 * MIB, 30 * MIB, 20 * MIB, 0.00015)


@pytest.mark.parametrize("below", [True, False], ids=["with the key", "without"])
def test_other_sites_and_places_stay(below: bool, tmp_path: Path) -> None:
    path = tmp_path / "speeds.yml"
    old = {"read": "1GB/s", "write": "2GB/s"}
    had = {
        "here": {"slots": 8, "pfs": old, "bb": old},
        "there": {"pfs": old},
    }
    path.write_text(yaml.safe_dump({KEY: had} if below else had))
    open_speeds(path, "here", ["bb"]).put({"bb": FIGURES}, "measured again")
    assert yaml.safe_load(path.read_text()) == {
        KEY: {
            "here": {"slots": 8, "pfs": old, "bb": FIGURES},
            "there": {"pfs": old},
        }
    }
    assert path.read_text().startswith("# measured again\n")


def test_a_site_catalog_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "sites.yml"
    path.write_text(yaml.safe_dump({"pegasus": "5.0", "sites": [], KEY: {}}))
    before = path.read_text()
    with pytest.raises(UsageError, match="holds more than speeds"):
        open_speeds(path, "here", ["pfs"])
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[1]", "not a mapping"),
        ("here: 3", "mapping of site to places"),
        (f"{KEY}: 3", "holds more than speeds"),
        ("here: {pfs: {read: fast, write: 1GB/s}}", "not a size"),
    ],
)
def test_a_file_that_is_wrong_is_refused_before_measuring(
    text: str, word: str, tmp_path: Path
) -> None:
    path = tmp_path / "speeds.yml"
    path.write_text(text)
    with pytest.raises(UsageError, match=word):
        open_speeds(path, "here", ["pfs"])


def test_without_the_pfs_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="measure it too: --tier pfs=DIR"):
        open_speeds(tmp_path / "speeds.yml", "here", ["bb"])


def test_a_folder_that_is_not_there_is_said_before_measuring(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder of yours"):
        open_speeds(tmp_path / "none" / "speeds.yml", "here", ["pfs"])
