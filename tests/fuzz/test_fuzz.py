"""A fixed set of damaged files for every reader; `make fuzz` looks for new ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from .mutate import damaged
from .probe import probe
from .targets import TARGETS, Target

by_name = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@by_name
def test_real_files_are_read(target: Target) -> None:
    said = {probe(target, seed) for seed in target.seeds}
    assert said <= ({"read"} if target.name != "rescue file" else {"read", "refused"})


@by_name
def test_damaged_files_are_read_or_refused_by_name(target: Target) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(damaged(target.seeds))
    def try_it(data: bytes) -> None:
        probe(target, data)

    try_it()
