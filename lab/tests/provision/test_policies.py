"""The policies on the same dumps: what holds for each, and how they compare."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegasus_bb_lab.model.applications import Application, Target
from pegasus_bb_lab.provision.application_dumps import Client, draw_clients, dumps_of
from pegasus_bb_lab.provision.drain_outcome import Span, bandwidths
from pegasus_bb_lab.provision.equations import segment_bandwidth
from pegasus_bb_lab.provision.group import Group
from pegasus_bb_lab.provision.optimum import optimum, production_and_deadline
from pegasus_bb_lab.provision.proactive import Proactive
from pegasus_bb_lab.provision.reactive import Reactive

from pegasus_bb.forecast.drain_windows import slope

MB = 10**6
GB = 10**9
HDD = Target(4, MB, 12, 1536, a=0.693, b=0.163, positioning=0.0055, plateau=4.0)
POLICIES = (Reactive, Proactive)
every_policy = pytest.mark.parametrize("policy", POLICIES)


@st.composite
def populations(draw: st.DrawFn) -> tuple[Client, ...]:
    """Up to five applications whose intervals vary, for ten minutes; also too many for
    the target."""
    shapes = st.tuples(st.integers(1, 60 * GB), st.integers(20, 300))
    found = draw(st.lists(shapes, min_size=1, max_size=5))
    applications = [
        Application(f"app{n}", size, float(interval))
        for n, (size, interval) in enumerate(found)
    ]
    rng = Random(draw(st.integers(0, 999)))
    return draw_clients(applications, 600.0, rng, draw(st.floats(0, 0.5)))


def size_within(span: Span, start: float, end: float) -> float:
    seconds = min(span.end, end) - max(span.start, start)
    return span.size * max(0.0, seconds) / (span.end - span.start)


@every_policy
@given(populations())
def test_every_byte_is_drained_once_when_it_is_there_and_as_fast_as_a_target_can(
    policy: type[Group], clients: tuple[Client, ...]
) -> None:
    outcome = policy(HDD).run(clients)
    dumps = dumps_of(clients)
    wanted = sum(dump.size for dump in dumps)
    # A ten-thousandth of a nanosecond at 4 GB/s is what a clock of ten minutes tells.
    same = pytest.approx(wanted, rel=1e-9, abs=1e-3 * len(outcome.dumps))
    assert math.fsum(span.size for span in outcome.spans) == same
    rates = bandwidths(outcome.spans, 10.0)
    assert math.fsum(rate * 10.0 for rate in rates) == same

    fastest = segment_bandwidth(HDD, HDD.upper)
    capacity = fastest * (1 + 1e-6)
    assert all(rate <= capacity for rate in rates)
    for span in outcome.spans:
        assert span.size <= capacity * (span.end - span.start) + 1e-3
    for dump, end in zip(outcome.dumps, outcome.ends, strict=True):
        copied = dump.size / fastest * (1 - 1e-9)
        assert end >= dump.made + HDD.positioning + copied

    if policy is Proactive:  # in segments, which are the bytes of each dump exactly
        drained: dict[int | None, float] = {}
        for span in outcome.spans:
            drained[span.dump] = drained.get(span.dump, 0) + span.size
        assert drained == {dump.number: dump.size for dump in dumps}


@every_policy
@given(populations())
def test_a_policy_without_late_dumps_drains_as_much_where_the_optimum_is_steepest(
    policy: type[Group], clients: tuple[Client, ...]
) -> None:
    outcome = policy(HDD).run(clients)
    corners = optimum(clients)
    if outcome.late() or not outcome.spans:
        return
    start, end = max(pairwise(corners), key=lambda stretch: slope(*stretch))
    drained = sum(size_within(span, start[0], end[0]) for span in outcome.spans)
    assert drained >= (end[1] - start[1]) * (1 - 1e-6) - 1


@given(populations())
def test_the_optimum_drains_no_dump_early_and_none_late(
    clients: tuple[Client, ...],
) -> None:
    dumps = dumps_of(clients)
    for gap in production_and_deadline(clients):
        assert gap.high == sum(dump.size for dump in dumps if dump.made < gap.time)
        assert gap.low == sum(dump.size for dump in dumps if dump.due <= gap.time)
