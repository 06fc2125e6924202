"""The page of a study: its cases, and a figure for each thing that was varied."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from pegasus_bb_lab.commands.campaign_page import campaigns_page
from pegasus_bb_lab.mix.cases import cases
from pegasus_bb_lab.mix.study import Result, study
from pegasus_bb_lab.model.machine import LOCAL, PLACEMENTS, SHARED

from lab.tests.mix.machines import HOUR, MACHINE, MIX
from pegasus_bb.model.quantities import Source
from tests.support.page_html import Balanced, without_scripts

SHORT = replace(MIX, campaign=24 * HOUR, source=Source("mix.yml"))
SWEEPS: Mapping[str, Sequence[Any]] = {
    "parity": (0.0, 0.2),
    "placement": PLACEMENTS,
}


@cache
def results(key: str, seeds: int = 2) -> list[Result]:
    compared = cases(MACHINE, (SHARED, LOCAL), {key: SWEEPS[key]})
    return study(SHORT, compared, range(seeds), lambda count, of: None)


def specs(page: str) -> list[dict[str, Any]]:
    found = re.findall(r'<script type="application/json">(.*?)</script>', page)
    return [json.loads(spec) for spec in found]


@pytest.mark.parametrize("key", SWEEPS)
def test_a_sweep_has_a_figure(key: str) -> None:
    page = campaigns_page("mix.yml", results(key))
    Balanced().feed(page)
    charts = specs(page)
    assert [chart["datasets"]["rows"] != [] for chart in charts] == [True] * 3
    assert "simulated, none is measured" in page
    for result in results(key):
        assert result.case.name in without_scripts(page)


def test_the_numbers_are_those_of_the_study() -> None:
    found = results("parity")
    rows = specs(campaigns_page("mix.yml", found))[0]["datasets"]["rows"]
    shown = [(row["series"], row["at"], row["mean"]) for row in rows]
    means = [result.estimate("productive") for result in found]
    assert shown == [
        (case, at, pytest.approx(100 * mean.mean))
        for (case, at), mean in zip(
            [("shared", 0), ("shared", 20), ("local", 0), ("local", 20)],
            means,
            strict=True,
        )
        if mean is not None
    ]
