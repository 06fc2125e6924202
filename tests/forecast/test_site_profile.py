"""A site profile: what runs of any workflows show of a site's storage."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.forecast.demands.effective_rates import Sample, fit_rates, samples_of
from pegasus_bb.forecast.site_profile import update_profile
from pegasus_bb.model.document import load
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.speeds import read_speeds

MB = 1_000_000
DAY = date(2026, 11, 1)


def run(rate: float, place: str = "pfs", tasks: int = 8) -> History:
    """Tasks that computed for 5 s, and had ``rate`` bytes a second."""
    sizes = [(n + 1) * 10 * MB for n in range(tasks)]
    jobs = {
        f"ID{size}": Past(5 + size / rate, user=5.0, read=size, calls=0, concurrency=4)
        for size in sizes
    }
    return History(place=place, jobs=jobs, at_once=4)


def learned(path: Path, *runs: History, day: date = DAY) -> float:
    """Bytes a second of a job on the PFS, as a plan by this profile has them."""
    update_profile(path, "cluster", runs, day)
    speeds = read_speeds(load(path, {}), ("x-storage-speeds",), "cluster")
    assert speeds is not None and speeds.slots == 4
    return speeds.pfs.job_read


@given(
    st.floats(1e5, 1e10),
    st.floats(1.0, 1e6),
    st.lists(st.tuples(st.integers(1, 10**12), st.integers(0, 10**8)), min_size=4),
)
def test_rates_are_recovered_from_tasks_that_had_them(
    rate: float, ops: float, tasks: list[tuple[int, int]]
) -> None:
    samples = [Sample(b / rate + c / ops, b, c, 1.0) for b, c in tasks]
    found = fit_rates(samples)
    assert found is not None and found.error < 1e-3
    for seconds, size, calls, _ in samples:
        assert size / found.bytes + calls / found.calls == pytest.approx(seconds, 1e-2)


def test_time_on_processors_is_no_time_on_storage() -> None:
    (sample,) = samples_of([Past(8.0, user=49.0, read=MB, written=MB)])
    assert (sample.seconds, sample.size) == (pytest.approx(1.0), 2 * MB)
    assert not samples_of([Past(8.0, user=8.0, read=MB), Past(8.0, read=MB)])


def test_a_profile_grows_and_ages(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    assert learned(path, run(100e6)) == pytest.approx(100e6, 1e-3)
    mean = 2 / (1 / 100e6 + 1 / 50e6)  # of the seconds that a byte took
    assert learned(path, run(50e6)) == pytest.approx(mean, 1e-3)
    late = date(2036, 11, 1)
    assert learned(path, run(200e6), day=late) == pytest.approx(200e6, 1e-2)
    told = yaml.safe_load(path.read_text())["x-learned-from"]["cluster"]["pfs"]
    assert (told["runs"], told["date"]) == (3, "2036-11-01")


def test_a_tier_without_a_new_run_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    learned(path, run(100e6), run(900e6, "bb"))
    learned(path, run(100e6))
    speeds = read_speeds(load(path, {}), ("x-storage-speeds",), "cluster")
    assert speeds is not None
    assert speeds.places["bb"].job_read == pytest.approx(900e6, 1e-3)


def test_what_tells_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    for runs, words in (
        ([run(100e6, tasks=3)], "nothing can be learned"),
        ([run(100e6, "bb")], "no run on it is named"),
    ):
        with pytest.raises(UsageError, match=words):
            update_profile(path, "cluster", runs, DAY)
        assert not path.exists()
    path.write_text("x-storage-speeds: {}\n")
    with pytest.raises(UsageError, match="not written by learn"):
        update_profile(path, "cluster", [run(100e6)], DAY)


def test_a_damaged_profile_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    learned(path, run(100e6))
    path.write_text(path.read_text().replace("tasks: 8", "tasks: many"))
    with pytest.raises(CatalogError, match="damaged") as caught:
        update_profile(path, "cluster", [run(100e6)], DAY)
    assert caught.value.key == "x-learned-from.cluster.pfs"
