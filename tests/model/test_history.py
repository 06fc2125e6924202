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


def test_run_figures_are_of_the_first_run_and_the_wait_of_any() -> None:
    both = combine([PFS, BB])
    assert (both.place, both.mode, both.makespan) == ("pfs", "off", 30.0)
    assert both.wait == 7.0
    assert both.source == "pfs and bb"
    assert both.sizes == {"a": 2, "b": 5}
    assert combine([History(), BB]).has_times
