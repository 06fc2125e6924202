"""The small workflow of catalogs/, read as planning reads it, and golden files.

``REFRESH_GOLDEN=1 pytest tests/planner/rewrite`` writes golden/ anew: read the diff.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from pegasus_bb.decide.decision import Ending, PlanningInput
from pegasus_bb.decide.place_files import place_files, reserve
from pegasus_bb.model.catalogs import load_inputs
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from tests.support.golden import matches_golden

HERE = Path(__file__).parent


class Golden(Protocol):
    def __call__(self, name: str, text: str) -> None: ...


@pytest.fixture
def golden() -> Golden:
    """Compare a text with golden/<name>, or write it there if asked to."""

    def compare(name: str, text: str) -> None:
        matches_golden(text, HERE / "golden" / name)

    return compare


def read(folder: Path, site: str, settings: Settings) -> tuple[Inputs, Target]:
    """What is in ``folder``, and a plan for its first tier on ``site``."""
    properties = read_properties(None, [], folder, folder)
    document, catalogs = load_inputs(folder / "workflow.yml", properties, folder)
    workflow = read_workflow(document)
    tier = catalogs.tiers[site][0]
    given = PlanningInput(
        workflow=workflow,
        graph=build_graph(workflow),
        catalogs=catalogs,
        settings=settings,
        site=catalogs.sites.site(site),
        ending=Ending(),
    )
    placement = reserve(given, place_files(given, tier)).placement
    request = Request(
        name="pbb4f1c2a9e",
        backend=tier.backend,
        capacity=placement.capacity,
        prefix="/bb/pbb4f1c2a9e",
        uuid="3d0a2c54-0000-4000-8000-000000000000",
        tier=tier.name,
        site=site,
    )
    inputs = Inputs.of(document, catalogs)
    return inputs, Target(site, placement, request, Path("/home/me/run0001"))


@pytest.fixture
def story() -> tuple[Inputs, Target]:
    return read(HERE / "catalogs", "cori", Settings())


@pytest.fixture
def inputs(story: tuple[Inputs, Target]) -> Inputs:
    return story[0]


@pytest.fixture
def plan(story: tuple[Inputs, Target]) -> Target:
    return story[1]


@pytest.fixture
def directory_plan(plan: Target) -> Target:
    """The same on the directory backend, which knows no directives."""
    tier = replace(plan.placement.tier, backend="directory")
    return replace(
        plan,
        request=plan.request._replace(backend="directory"),
        placement=replace(plan.placement, tier=tier),
    )


@pytest.fixture
def edited(inputs: Inputs) -> Any:
    """``edited(document, {keys: value})``: the inputs as another user wrote them."""
    from pegasus_bb.planner.rewrite.pass_input import with_values

    def edit(document: str, values: dict[tuple[Any, ...], Any]) -> Inputs:
        changed = with_values(getattr(inputs, document), values)
        return replace(inputs, **{document: changed})

    return edit
