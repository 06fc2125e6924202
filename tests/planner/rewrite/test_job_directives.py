"""Mode transient: each job asks for its own space, and all else stays as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.model.modes import TRANSIENT
from pegasus_bb.model.placement import JobReservation
from pegasus_bb.model.settings import Settings
from pegasus_bb.planner.rewrite.job_directives import (
    add_directives,
    directives_of,
    linked_sources,
)
from pegasus_bb.planner.rewrite.pass_input import Inputs, Target
from pegasus_bb.planner.rewrite.site_directives import add_shared_directives
from tests.planner.rewrite.conftest import HERE, read
from tests.support.user_files import User

BBF = "--bbf=/home/me/run0001/bb/nodes/{}.bbf"
OWN = JobReservation(
    ("in.txt", "sub/b.dat"), ("out.txt",), (), (), need=5, capacity=8 << 20
)


@pytest.fixture
def story() -> tuple[Inputs, Target]:
    return read(HERE / "catalogs", "cori", Settings(mode=TRANSIENT, capacity=1 << 40))


def arguments(inputs: Inputs) -> list[str]:
    """glite.arguments of each job, as its own profiles have them."""
    jobs = inputs.workflow.data["jobs"]
    profiles = (job.get("profiles", {}).get("pegasus", {}) for job in jobs)
    return [own.get("glite.arguments", "") for own in profiles]


@pytest.fixture
def alone(plan: Target) -> Target:
    """No reservation is shared."""
    return replace(plan, is_shared=False)


def test_each_job_keeps_its_arguments_and_gets_its_own_option(
    inputs: Inputs, alone: Target
) -> None:
    first, second, *_ = arguments(add_directives(inputs, alone))
    assert first == f"--qos=regular {BBF.format('ID1')}"
    assert second == f"--qos=debug {BBF.format('ID2')}"


def test_in_mode_hybrid_no_job_has_two_options(inputs: Inputs, plan: Target) -> None:
    """One file names both reservations, for sbatch takes one."""
    rooms = {"ID2": plan.placement.job_reservations["ID2"]}
    hybrid = replace(plan, placement=replace(plan.placement, job_reservations=rooms))
    first, second, *_ = arguments(add_directives(inputs, hybrid))
    assert BBF.format("ID1") not in first
    assert second == f"--qos=debug {BBF.format('ID2')}"


def test_the_site_counts_if_nothing_narrower_is_set(edited: Any, alone: Target) -> None:
    inputs = edited("transformations", {("transformations", 1, "sites"): []})
    after = add_directives(inputs, alone).workflow.data["jobs"][0]["profiles"]
    assert after["pegasus"]["glite.arguments"].startswith("--constraint=haswell --bbf=")


def test_a_property_with_a_buffer_of_the_user_s_own_is_refused(
    edited: Any, alone: Target
) -> None:
    """Also where no reservation is shared: sbatch would get two files."""
    programs = edited("transformations", {("transformations", 1, "sites"): []})
    sites = edited("sites", {("sites", 1, "profiles", "pegasus"): {}}).sites
    own = {"pegasus.glite.arguments": "--bbf=/my/own.bbf"}
    inputs = replace(programs, sites=sites).with_properties(own)
    with pytest.raises(CatalogError, match="one file of burst buffer") as error:
        add_directives(inputs, alone)
    assert error.value.key == "pegasus.glite.arguments"


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("step", "value"),
    [
        (add_shared_directives, "--bbf=/my/own.bbf"),
        (add_directives, "-N 1 --bb=capacity=1GB"),
    ],
)
def test_a_buffer_of_the_user_s_own_is_refused(
    edited: Any, plan: Target, step: Any, value: str, *, shared: bool
) -> None:
    keys = ("jobs", 1, "profiles", "pegasus", "glite.arguments")
    with pytest.raises(CatalogError, match="one file of burst buffer") as error:
        step(edited("workflow", {keys: value}), replace(plan, is_shared=shared))
    assert (error.value.key, error.value.found) == (".".join(map(str, keys)), value)


def lines(
    plan: Target, own: JobReservation = OWN, landing: str = "/lus/r/.l/n"
) -> list[str]:
    request = plan.request._replace(prefix="/lus/r")
    return directives_of(request, own, landing, {}).splitlines()


def test_what_is_a_link_in_the_scratch_is_staged_from_where_it_leads(
    plan: Target,
) -> None:
    text = directives_of(plan.request, OWN, "/l", {"in.txt": "/data/in.txt"})
    assert " source=/data/in.txt destination=$DW_JOB_STRIPED/run/in.txt\n" in text


def test_the_lines_reserve_stage_in_and_stage_out(plan: Target) -> None:
    assert lines(plan) == [
        "#DW jobdw capacity=8388608 access_mode=striped type=scratch",
        "#DW stage_in type=file source=/lus/r/in.txt "
        "destination=$DW_JOB_STRIPED/run/in.txt",
        "#DW stage_in type=file source=/lus/r/sub/b.dat "
        "destination=$DW_JOB_STRIPED/run/sub/b.dat",
        "#DW stage_out type=directory source=$DW_JOB_STRIPED/results "
        "destination=/lus/r/.l/n",
    ]


def test_the_lines_for_slurm_lua_say_the_same(plan: Target) -> None:
    own = plan.request._replace(backend="slurm-lua", pool="flash", prefix="/lus/r")
    text = directives_of(own, OWN, "/lus/r/.l/n", {}, "pbb4f1c2a9e")
    assert text.splitlines() == [
        "#BB_LUA jobbb capacity=8388608 pool=flash",
        "#BB_LUA persist use pbb4f1c2a9e",
        "#BB_LUA stage_in /lus/r/in.txt job://run/in.txt",
        "#BB_LUA stage_in /lus/r/sub/b.dat job://run/sub/b.dat",
        "#BB_LUA stage_out job://results /lus/r/.l/n",
    ]


def test_the_lines_of_a_job_with_a_share_name_both_reservations(
    plan: Target,
) -> None:
    room = replace(OWN, stage_in=())
    text = directives_of(plan.request, room, "/lus/r/.l/n", {}, "pbb4f1c2a9e")
    assert text.splitlines() == [
        "#DW jobdw capacity=8388608 access_mode=striped type=scratch",
        "#DW persistentdw name=pbb4f1c2a9e",
        "#DW stage_out type=directory source=$DW_JOB_STRIPED/results "
        "destination=/lus/r/.l/n",
    ]
    with pytest.raises(UsageError, match="cannot be used"):
        directives_of(plan.request, room, "/l", {}, "pbb\n#DW swap 1")


def test_nothing_is_staged_into_or_out_of_a_private_reservation(
    plan: Target,
) -> None:
    own = plan.request._replace(access="private", pool="wlm_pool")
    text = directives_of(own, OWN, "/lus/r/.l/n", {}, "pbb4f1c2a9e")
    assert text.splitlines() == [
        "#DW jobdw capacity=8388608 access_mode=private type=scratch pool=wlm_pool",
        "#DW persistentdw name=pbb4f1c2a9e",
    ]


def test_more_lines_than_slurm_takes_are_refused(
    plan: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegasus_bb.planner.rewrite.job_directives.MOST_BYTES", 300)
    with pytest.raises(UsageError, match=r"of n have \d+ bytes, for 2 inputs"):
        lines(plan)


@pytest.mark.parametrize(
    "bad", ["a b", "a\n#DW swap 1", "a%u", "a\\", "$HOME", "", "a;b", "à"]
)
def test_nothing_foreign_gets_onto_a_line(plan: Target, bad: str) -> None:
    with pytest.raises(UsageError, match="cannot stand in a directive"):
        lines(plan, replace(OWN, stage_in=(bad,)))
    with pytest.raises(UsageError, match="cannot stand in a directive"):
        lines(plan, landing=bad)


@pytest.mark.parametrize(("links", "found"), [("true", {"in.txt"}), ("false", set())])
def test_inputs_of_the_site_are_links_where_pegasus_makes_them_so(
    links: str, found: set[str], tmp_path: Path
) -> None:
    user = User(tmp_path)
    user.defines = ["pegasus.bb.mode=transient", f"pegasus.transfer.links={links}"]
    user.replicas["in.txt"] = [{"site": "cluster", "pfn": "/data/in.txt"}]
    user.replicas["ref.txt"] = [{"site": "far", "pfn": "http://far/ref.txt"}]
    _, catalogs, _ = user.read()
    assert linked_sources(catalogs, user.decide()).keys() == found
