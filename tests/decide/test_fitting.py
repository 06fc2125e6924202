"""Files that are too many for the capacity that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.explain import command
from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.decision import Ending, MovedFiles
from pegasus_bb.model.placement import PlannedPhases
from tests.decide.test_liveness import chain
from tests.support.golden import matches_golden
from tests.support.user_files import User, said, use


@pytest.fixture
def long(user: User) -> User:
    """in -> a -> b -> c -> out: 165 bytes, level by level 110."""
    user.jobs = chain()
    user.replicas = {"in": [{"site": "far", "pfn": "http://far/in"}]}
    user.defines = ["pegasus.bb.capacity=120"]
    user.tier = {"granularity": "1"}
    return user


def phases(user: User) -> PlannedPhases:
    found = user.decide().phases
    assert found is not None
    return found


def moved(user: User) -> set[str]:
    return {f.lfn for f in user.decide().files.values() if f.tier == "pfs"}


def test_what_fits_at_once_needs_no_phases(long: User) -> None:
    long.defines = ["pegasus.bb.capacity=165"]
    assert long.decide().phases is None


def test_with_in_place_clean_up_the_jobs_run_in_phases(long: User) -> None:
    assert phases(long) == PlannedPhases(limit=120, ends=(1, 4), peak=110)
    assert moved(long) == set()
    assert long.decide().capacity == 120


@pytest.mark.parametrize("cleanup", ["none", "leaf", "constraint"])
def test_with_another_clean_up_what_is_used_least_moves(
    long: User, cleanup: str
) -> None:
    """The input is read once: it has half as much for each byte as what is made."""
    long.ending = Ending(cleanup)
    long.defines = ["pegasus.bb.capacity=110"]
    assert moved(long) == {"in"}
    assert phases(long) == PlannedPhases(110, (1,), 65)
    assert long.decision().moved == MovedFiles(("in",), benefit=125)


def test_where_a_level_is_too_much_something_moves_and_the_rest_runs_in_phases(
    long: User,
) -> None:
    long.defines = ["pegasus.bb.capacity=52"]
    assert moved(long) == {"in"}
    assert phases(long) == PlannedPhases(52, (2, 3, 4), 50)
    assert long.decision().moved == MovedFiles(("in",), benefit=125)
    placed = long.placed("in")
    assert (placed.how, placed.tier) == ("copy", "pfs")
    assert placed.reason.startswith("capacity is short (52 B): ")


def test_what_the_user_pinned_to_the_tier_does_not_move(long: User) -> None:
    long.ending = Ending("leaf")
    long.defines = ["pegasus.bb.capacity=110"]
    long.jobs[0]["uses"][0] = use("in", "input", **said("bb", 100))
    assert moved(long) == {"b", "c", "out"}
    assert long.decision().moved == MovedFiles(
        ("b", "c", "out"), benefit=20
    )  # of a, which had to compete


def test_unknown_sizes_are_named(long: User) -> None:
    del long.jobs[1]["uses"][1]["metadata"], long.jobs[2]["uses"][0]["metadata"]
    with pytest.raises(CatalogError) as caught:
        long.decide()
    text = str(caught.value)
    assert "120 B is less than the 145 B that are known to be needed on tier bb" in text
    assert "1 file has no known size: b\n" in text
    assert "reserve more, or learn the sizes from one run (--bb-history" in text


def test_a_staged_program_moves_where_few_jobs_run_it(long: User) -> None:
    (long.folder / "prog").write_bytes(b"#" * 50)
    site = {"name": "cluster", "pfn": f"{long.folder}/prog", "type": "stageable"}
    long.transformations = [{"name": "work", "sites": [site]}]
    long.ending = Ending("leaf")
    long.defines = ["pegasus.bb.capacity=164"]
    assert moved(long) == {"in"}  # four jobs run the program
    for entry in long.jobs[1:]:
        entry["name"] = "other"
    assert moved(long) == {"work", "out"}


@pytest.fixture
def here(long: User, monkeypatch: pytest.MonkeyPatch) -> None:
    long.defines = []
    long.read()
    monkeypatch.chdir(long.folder)
    monkeypatch.setenv("HOME", str(long.folder))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("case", ["phases", "moved", "moved-without-clean-up"])
def test_explain_shows_phases_and_moved_files(case: str) -> None:
    capacity = {"phases": 120, "moved": 52, "moved-without-clean-up": 110}[case]
    words = ["--output-dir", "out", "--bb-capacity", str(capacity)]
    words += ["--cleanup", "leaf"] if case == "moved-without-clean-up" else []
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    golden = Path(__file__).parent / "golden"
    matches_golden(result.stdout, golden / f"explain-{case}.txt")
