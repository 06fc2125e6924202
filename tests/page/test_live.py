"""The drawing of what was on the tier, on the shared reservation and in rooms."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.page.live import live
from pegasus_bb.page.plot import Mark
from pegasus_bb.report import to_document
from tests.page.comparisons import a_comparison


@pytest.fixture
def document() -> dict[str, Any]:
    return to_document(a_comparison())


def reserved(document: dict[str, Any]) -> list[Mark]:
    panels = [panel for plot in live(document).plots for panel in plot.panels]
    return [m for panel in panels for m in panel.marks if "reserved" in m.style]


def edges(mark: Mark) -> list[str]:
    """Where it goes up or down."""
    return [part.partition("V")[0] for part in mark.path.split("H")[1:]]


def test_shared_reservation_and_rooms_are_drawn_apart_on_one_axis(
    document: dict[str, Any],
) -> None:
    found = live(document)
    shared, rooms = (plot.panels[0] for plot in found.plots)
    assert [tick.at for tick in shared.across] == [tick.at for tick in rooms.across]
    assert (
        "At most 40.0 MiB on the reservation of all jobs and 9.0 MiB on" in found.about
    )
    assert "1 file on the reservation of all jobs" in found.about


@pytest.mark.parametrize("key", ["live", "live_rooms"])
def test_where_only_one_is_known_only_that_is_drawn(
    document: dict[str, Any], key: str
) -> None:
    for run in document["runs"]["bb"]:
        run[key] = None
    assert len(live(document).plots) == 1


def test_what_was_reserved_ends_where_the_reservation_did(
    document: dict[str, Any],
) -> None:
    shared, rooms = reserved(document)
    assert len(edges(shared)) == 2
    assert len(edges(rooms)) == 3
    assert rooms.title == "reserved, added up: 20.0 MiB"


def test_one_that_is_held_still_goes_on_to_the_end(document: dict[str, Any]) -> None:
    run = document["runs"]["bb"][0]
    run["live"]["reserved"] = run["live"]["reserved"][:1]
    shared, _ = reserved(document)
    assert edges(shared)[-1] == "1000"


def test_without_its_times_a_capacity_is_a_line_over_all(
    document: dict[str, Any],
) -> None:
    document["runs"]["bb"][0]["live"]["reserved"] = []
    shared, _ = reserved(document)
    assert edges(shared) == ["120", "1000"]


def test_what_began_before_the_run_begins_at_the_edge(document: dict[str, Any]) -> None:
    document["runs"]["bb"][0]["live"]["reserved"][0][0] = -30.0
    shared, _ = reserved(document)
    assert edges(shared)[0] == "120"
