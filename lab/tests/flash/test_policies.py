"""Streams and pools: algorithms 1 and 2 of Koo et al., and predicted lifetimes."""

from __future__ import annotations

from array import array

from pegasus_bb_lab.flash.device_pools import to_pools
from pegasus_bb_lab.flash.policies import by_lifetime
from pegasus_bb_lab.flash.stream_table import StreamTable
from pegasus_bb_lab.flash.trace import Files


def files(*rows: tuple[int, int, int, int, int]) -> Files:
    """user, workflow, level, opened, deleted; each of one stripe."""
    columns = [array("i", column) for column in zip(*rows, strict=True)]
    return Files(*columns, array("i", [1] * len(rows)))


def test_a_key_keeps_its_stream_and_a_new_one_gets_an_idle_one() -> None:
    table = StreamTable(3)
    assert [table.open(key) for key in "abacabb"] == [0, 1, 0, 2, 0, 1, 1]


def test_files_of_one_class_have_lifetimes_of_one_kind() -> None:
    found = files(
        *[(0, 0, 0, 10, 10 + life) for life in (1, 2, 10, 20, 100, 200, 900, 1000)]
    )
    assert list(by_lifetime(0.0, 0, found, 8)) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert list(by_lifetime(0.0, 0, found, 2)) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_workflow_gets_an_idle_pool_then_one_without_its_user() -> None:
    """Algorithm 2 with three pools; the fifth finds its user only on the first two."""
    rows = [
        (0, 0, 0, 0, 90),  # idle: the first
        (0, 1, 0, 1, 90),  # idle: the second
        (1, 2, 0, 2, 90),  # idle: the third
        (2, 3, 0, 3, 90),  # none is idle, its user is on none: the least used
        (0, 4, 0, 4, 90),  # only the third is without its user
        (0, 5, 0, 5, 90),  # its user is on all: the least used
        (0, 0, 0, 6, 90),  # a later file of the first workflow
    ]
    assert list(to_pools(files(*rows), 3)) == [0, 1, 2, 0, 2, 1, 0]
