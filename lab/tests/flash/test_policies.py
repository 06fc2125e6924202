"""Streams and pools: algorithms 1 and 2 of Koo et al., and predicted lifetimes."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.flash import stream_table
from pegasus_bb_lab.flash.device_pools import events_of, to_pools, to_streams
from pegasus_bb_lab.flash.policies import WITHOUT_TIMES, by_death, by_lifetime, predict
from pegasus_bb_lab.flash.stream_table import StreamTable
from pegasus_bb_lab.flash.trace import Files, Trace


def files(*rows: tuple[int, int, int, int, int]) -> Files:
    """user, workflow, level, opened, deleted; each of one stripe."""
    columns = [array("i", column) for column in zip(*rows, strict=True)]
    return Files(*columns, array("i", [1] * len(rows)))


def test_a_key_keeps_its_stream_and_a_new_one_gets_an_idle_one() -> None:
    table = StreamTable(3)
    assert [table.open(key) for key in "abacabb"] == [0, 1, 0, 2, 0, 1, 1]


def test_without_an_idle_stream_the_least_used_is_taken() -> None:
    table = StreamTable(2)
    assert [table.open(key) for key in "abcd"] == [0, 1, 0, 1]


def test_a_stream_is_idle_again_when_its_user_was_not_seen_for_long() -> None:
    table = StreamTable(2)
    assert [table.open(key) for key in "ab"] == [0, 1]
    for _ in range(2 * stream_table._OPENS):
        table.open("a")
    assert table.open("c") == 1


def test_what_each_policy_takes_for_a_stream() -> None:
    found = files((0, 0, 1, 0, 9), (0, 0, 2, 1, 9), (0, 1, 1, 2, 9), (1, 2, 1, 3, 9))
    streams = {name: list(to(found, 4)) for name, to in WITHOUT_TIMES.items()}
    assert streams == {
        "legacy": [0, 0, 0, 0],
        "user": [0, 0, 0, 1],
        "workflow": [0, 0, 1, 2],
        "cohort": [0, 1, 2, 3],
    }


def test_files_of_one_class_have_lifetimes_of_one_kind() -> None:
    found = files(
        *[(0, 0, 0, 10, 10 + life) for life in (1, 2, 10, 20, 100, 200, 900, 1000)]
    )
    assert list(by_lifetime(0.0, 0, found, 8)) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert list(by_lifetime(0.0, 0, found, 2)) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_files_that_die_together_share_a_stream() -> None:
    rows = [
        (0, 0, 0, opened, death) for opened, death in ((0, 100), (50, 100), (90, 190))
    ]
    first, second, third = by_death(0.0, 0, files(*rows), 4)
    assert first == second != third


@given(st.floats(0, 3), st.integers(0, 9), st.integers(1, 8))
def test_whatever_is_predicted_a_file_has_a_stream(
    error: float, seed: int, streams: int
) -> None:
    found = files(*[(0, 0, 0, born, born + born % 7) for born in range(50)])
    for policy in (by_lifetime, by_death):
        assert max(policy(error, seed, found, streams)) < streams


def test_predictions_are_off_by_sigma_and_the_seed_repeats_them() -> None:
    found = files(*[(0, 0, 0, 0, 1000)] * 2000)
    assert predict(found, 0.0, 1) == [1000.0] * 2000
    off = predict(found, 0.5, 1)
    assert off == predict(found, 0.5, 1) != predict(found, 0.5, 2)
    within = sum(1000 * 0.6065 < life < 1000 * 1.6487 for life in off)  # e^-+0.5
    assert 0.64 < within / 2000 < 0.72


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


def test_a_pool_is_idle_again_when_its_workflow_has_ended() -> None:
    rows = [(0, 0, 0, 0, 9), (1, 1, 0, 1, 90), (0, 2, 0, 9, 90)]
    assert list(to_pools(files(*rows), 2)) == [0, 1, 0]


def test_pools_share_the_events_and_have_streams_of_their_own() -> None:
    found = files((0, 0, 0, 0, 9), (1, 1, 0, 1, 9), (1, 2, 0, 2, 9))
    pools = bytes([0, 1, 0])
    assert list(to_streams(found, pools, 4)) == [0, 0, 1]
    trace = Trace(array("i", [0, 1, 2, -1, -2, 2]), found, 3)
    assert events_of(trace, pools, 0).tolist() == [0, 2, -1, 2]
    assert events_of(trace, pools, 1).tolist() == [1, -2]
