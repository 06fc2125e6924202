"""A site profile: what runs of any workflows show of a site's storage."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.forecast.demands.effective_rates import Sample, fit_rates, samples_of
from pegasus_bb.forecast.site_profile import Learned, update_profile
from pegasus_bb.model.document import load
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.speeds import Speeds, read_speeds

MB = 1_000_000
DAY = date(2026, 11, 1)


def run(rate: float, place: str = "pfs", tasks: int = 8) -> History:
    """Tasks that computed for 5 s, and had ``rate`` bytes a second."""
    sizes = [(n + 1) * 10 * MB for n in range(tasks)]
    jobs = {
        f"ID{size}": Past(5 + size / rate, 5.0, size, 0, calls=0, concurrency=4)
        for size in sizes
    }
    return History(place=place, jobs=jobs, at_once=4)


def learn(path: Path, *runs: History, day: date = DAY) -> Learned:
    return update_profile(path, "cluster", runs, day)


def speeds_of(path: Path) -> Speeds | None:
    return read_speeds(load(path, {}), ("x-storage-speeds",), "cluster")


def learned(path: Path, *runs: History, day: date = DAY) -> float:
    """Bytes a second of a job on the PFS, as a plan by this profile has them."""
    learn(path, *runs, day=day)
    speeds = speeds_of(path)
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
    if found.at_least == "bytes":
        assert found.bytes < rate * 1.001
        return
    if found.at_least == "calls":
        assert found.calls < ops * 1.001
        return
    for seconds, size, calls, _ in samples:
        assert size / found.bytes + calls / found.calls == pytest.approx(seconds, 1e-2)


def test_time_on_processors_is_no_time_on_storage() -> None:
    (sample,) = samples_of([Past(8.0, user=49.0, read=MB, written=MB)])
    assert (sample.seconds, sample.size) == (pytest.approx(1.0), 2 * MB)
    assert not samples_of([Past(8.0, 8.0, MB, MB), Past(8.0, None, MB, MB)])


def test_unknown_bytes_are_not_none() -> None:
    assert not samples_of([Past(8.0, 1.0, MB, None), Past(8.0, 1.0, None, MB)])


def test_a_profile_grows_and_ages(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    assert learned(path, run(100e6)) == pytest.approx(100e6, 1e-3)
    mean = 2 / (1 / 100e6 + 1 / 50e6)  # of the seconds that a byte took
    assert learned(path, run(50e6)) == pytest.approx(mean, 1e-3)
    late = date(2036, 11, 1)
    assert learned(path, run(200e6), day=late) == pytest.approx(200e6, 1e-2)
    told = yaml.safe_load(path.read_text())["x-learned-from"]["cluster"]["pfs"]
    assert (told["runs"], told["date"]) == (3, "2036-11-01")


def test_a_run_that_the_profile_has_is_not_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    first, second = (
        replace(run(rate), state_id=name, source=name)
        for rate, name in ((100e6, "1a"), (50e6, "2b"))
    )
    rate = learned(path, first, second, first)
    written = path.read_text()
    found = learn(path, second, first)
    assert [each.source for each in found.again] == ["2b", "1a"]
    assert found.places["pfs"].runs == 2
    assert path.read_text() == written
    assert learned(path, first, replace(first, state_id="3c")) != rate


def test_a_tier_without_a_new_run_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    learned(path, run(100e6), run(900e6, "bb"))
    learned(path, run(100e6))
    speeds = speeds_of(path)
    assert speeds is not None
    assert speeds.places["bb"].job_read == pytest.approx(900e6, 1e-3)


def test_what_tells_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    for runs, words in (
        ([run(100e6, tasks=3)], "nothing can be learned"),
        ([run(100e6, "bb")], "no run on it is named"),
    ):
        with pytest.raises(UsageError, match=words):
            learn(path, *runs)
        assert not path.exists()
    path.write_text("x-storage-speeds: {}\n")
    with pytest.raises(UsageError, match="not written by learn"):
        learn(path, run(100e6))


@pytest.mark.parametrize(
    ("was", "edited", "key"),
    [
        ("tasks: 8", "tasks: many", "cluster.pfs.tasks"),
        ("tasks: 8", "tasks: -5", "cluster.pfs.tasks"),
        ("tasks: 8", "tasks: .inf", "cluster.pfs.tasks"),
        ("together: 4.0", "together: .nan", "cluster.pfs.together"),
        ("together: 4.0", "together: .inf", "cluster.pfs.together"),
        ("together: 4.0", "together: -3", "cluster.pfs.together"),
        ("2026-11-01", "yesterday", "cluster.pfs.date"),
        ("pfs: {tasks", "pfs: 3\n    bb: {tasks", "cluster.pfs"),
        ("\n  cluster:\n    pfs: {tasks", " null\nx-old: {tasks", ""),
        ("\n  cluster:\n    pfs: {tasks", " [1, 2]\nx-old: {tasks", ""),
        ("cluster:\n    pfs: {tasks", "cluster: null\nx-old: {tasks", "cluster"),
    ],
)
def test_a_damaged_profile_is_named_with_its_place(
    tmp_path: Path, was: str, edited: str, key: str
) -> None:
    path = tmp_path / "site.yml"
    learned(path, run(100e6))
    text = path.read_text()
    path.write_text(text.replace(was, edited))
    assert path.read_text() != text
    with pytest.raises(CatalogError) as caught:
        learn(path, run(100e6))
    assert caught.value.key == ".".join(filter(None, ("x-learned-from", key)))
    assert caught.value.line


def test_what_the_user_adds_to_a_profile_stays(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    learned(path, run(100e6))
    own = {
        "slots": 64,
        "startup": {"queue": "20s"},
        "remote": {"read": "1MB/s", "write": "1MB/s"},
    }
    whole = yaml.safe_load(path.read_text())
    whole["x-storage-speeds"]["cluster"].update(own)
    whole["x-storage-speeds"]["cluster"]["pfs"]["latency"] = "2ms"
    path.write_text(yaml.safe_dump(whole))
    learn(path, run(50e6))
    told = yaml.safe_load(path.read_text())["x-storage-speeds"]["cluster"]
    assert {name: told[name] for name in own} == own
    assert told["pfs"]["latency"] == "2ms"
    assert told["pfs"]["job_read"] == "66667KB/s"


def of_small_files(place: str, each: float = 0.001, together: float = 4.0) -> History:
    """Tasks of 20 KB that wait for their calls, more or less."""
    jobs = {
        f"ID{n}": Past(
            5 + each * (100 + 50 * n) * (1 + 0.08 * (-1) ** n),
            user=5.0,
            read=20_000,
            written=0,
            calls=100 + 50 * n + 2,
            concurrency=together,
        )
        for n in range(8)
    }
    return History(place=place, jobs=jobs, at_once=4)


def test_a_rate_that_was_not_measured_is_at_least_what_would_have_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "site.yml"
    for _ in range(2):  # what learn writes it can read
        found = learn(path, of_small_files("pfs"))
        assert found.places["pfs"].rates.at_least == "bytes"
    speeds = speeds_of(path)
    assert speeds is not None and not speeds.is_known
    # The PFS may be as fast as any: then a tier gains the least.
    assert speeds.pessimistic.pfs.job_read > 1e12
    slow = speeds.optimistic.pfs
    seconds = 20_000 / slow.job_read
    assert 0.002 < seconds < 0.25  # of 0.1 to 0.5 s on storage
    assert slow.read == pytest.approx(4 * slow.job_read, 1e-2)
    assert speeds.pfs.task_bytes == (20_000, 20_000)


def test_a_measured_rate_replaces_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    learn(path, of_small_files("pfs"))
    found = learn(path, run(100e6)).places["pfs"].rates
    assert (found.at_least, found.sizes) == ("", (20_000, 80 * MB))
    assert found.bytes == pytest.approx(100e6, 1e-2)
    assert found.calls == pytest.approx(1000, 0.1)


def test_a_profile_of_very_many_tasks_at_a_time_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "site.yml"
    many = of_small_files("pfs", each=1e-4, together=999_999.0)
    for _ in range(2):
        learn(path, many)
    assert speeds_of(path) is not None
