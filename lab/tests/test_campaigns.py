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
from pegasus_bb_lab.mix.study_text import case_rows, difference_rows
from pegasus_bb_lab.model.machine import LOCAL, PLACEMENTS, SHARED

from lab.tests.mix.machines import HOUR, MACHINE, MIX
from pegasus_bb.model.quantities import Source
from tests.support.page_html import Balanced, without_scripts

SHORT = replace(MIX, campaign=24 * HOUR, source=Source("mix.yml"))
SWEEPS: Mapping[str, Sequence[Any]] = {
    "nodes": (5, 10),
    "capacity": (1e12, 9e12),
    "pfs": (1e10, 2e10),
    "parity": (0.0, 0.2),
    "repair": (60.0, 3600.0),
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


def test_local_buffers_are_a_line_across_the_sweep_of_buffer_nodes() -> None:
    rows = specs(campaigns_page("mix.yml", results("nodes")))[0]["datasets"]["rows"]
    local = [(row["at"], row["mean"]) for row in rows if row["series"] == "local"]
    assert [at for at, _ in local] == [5, 10]
    assert len({mean for _, mean in local}) == 1


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


def test_one_seed_has_no_error_bars() -> None:
    page = campaigns_page("mix.yml", results("nodes", seeds=1))
    assert "errorbar" not in json.dumps(specs(page))
    assert "errorbar" in json.dumps(specs(campaigns_page("mix.yml", results("nodes"))))


def test_what_is_not_told_apart_is_said() -> None:
    """In the words and digits of the command."""
    found = results("capacity")
    page = campaigns_page("mix.yml", found)
    base, *others = found
    said = [row for other in others for row in difference_rows(other, base)]
    for _, shown, verdict in said:
        assert (f"{shown}, {verdict}" if verdict else shown) in page
    assert "not told apart" in {verdict for _, _, verdict in said}
    for row in case_rows(found):
        assert all(cell in page for cell in row)


def test_one_legend_names_every_line_of_a_figure() -> None:
    page = without_scripts(campaigns_page("mix.yml", results("parity")))
    legend = page.partition('class="legend">')[2].partition("</ul>")[0]
    assert "▲ shared" in legend
    assert "■ local" in legend


def test_names_are_text() -> None:
    page = campaigns_page("<b>mix</b>", results("nodes"))
    assert "<b>mix" not in page
