"""Earlier runs, one or several, and what they know of a job."""

from __future__ import annotations

from pegasus_bb.model.history import History, Past, combine

PFS = History(
    jobs={"ID1": Past(9.0)},
    transformations={"cat": Past(8.0)},
    sizes={"a": 1, "b": 5},
    makespan=30.0,
    source="pfs",
)
BB = History(
    place="bb",
    transformations={"cat": Past(3.0), "dog": Past(4.0)},
    sizes={"a": 2},
    mode="persistent",
    makespan=20.0,
    wait=7.0,
    source="bb",
)


def test_without_a_run_nothing_is_known() -> None:
    assert combine([]) == History()
    assert not combine([]).has_times
    assert combine([PFS]) is PFS


def test_pasts_have_the_place_of_each_run() -> None:
    both = combine([PFS, BB])
    assert both.pasts("ID1", "cat") == [("pfs", Past(9.0)), ("bb", Past(3.0))]
    assert both.pasts("ID2", "dog") == [("bb", Past(4.0))]
    assert both.pasts("ID2", "cow") == []


def test_the_first_run_that_knows_a_job_gives_its_run_time() -> None:
    both = combine([PFS, BB])
    assert both.of("ID1", "cat") == Past(9.0)
    assert both.of("ID2", "cat") == Past(8.0)
    assert both.of("ID2", "dog") == Past(4.0)
    assert both.of("ID2", "cow") is None


def test_run_figures_are_of_the_first_run_and_the_wait_of_any() -> None:
    both = combine([PFS, BB])
    assert (both.place, both.mode, both.makespan) == ("pfs", "off", 30.0)
    assert both.wait == 7.0
    assert both.source == "pfs and bb"
    assert both.sizes == {"a": 2, "b": 5}
    assert combine([History(), BB]).has_times
