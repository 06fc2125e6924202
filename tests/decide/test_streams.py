"""The hint of each file by the policy of its tier; lifetimes in levels and seconds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.explain import command
from pegasus_bb.core.errors import CatalogError
from pegasus_bb.decide.place_files import place_files, with_capacity
from pegasus_bb.decide.run_times import times_error
from pegasus_bb.decide.stream_choice import outputs_to_make
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.placement import HINTS
from tests.support.user_files import User, job, sized, use


def streams(user: User, policy: str) -> dict[str, str]:
    """LFN -> stream."""
    user.tier["streams"] = policy
    return {f.lfn: f.stream for f in user.decide().files.values()}


def past(user: User, *runs: dict[str, float]) -> History:
    """Earlier runs, in which jobs took so many seconds."""
    found = [History(jobs={k: Past(v) for k, v in run.items()}) for run in runs]
    return replace(found[0], others=tuple(found[1:]))


def test_a_file_has_its_lifetime_in_levels_and_its_cohort(chain: User) -> None:
    files = chain.decide().files
    lives = {lfn: (f.lifetime, f.cohort) for lfn, f in files.items()}
    assert lives["in"] == (1, 1)
    assert lives["a"] == (2, 2)
    assert lives["kept"] == (4, 4)
    assert lives["out"] == (1, 4)
    assert {f.seconds for f in files.values()} == {None}


def test_where_run_times_are_known_it_is_in_seconds_too(chain: User) -> None:
    """The first run's times, and the median where it tells nothing."""
    given = replace(
        chain.given(), history=past(chain, {"J0": 10.0, "J1": 20.0, "J3": 20.0})
    )
    files = place_files(given, given.catalogs.tiers["cluster"][0]).placement.files
    assert (files["in"].seconds, files["a"].seconds) == (10.0, 30.0)
    assert (files["b"].seconds, files["kept"].seconds) == (40.0, 70.0)


def test_the_error_of_run_times_is_their_spread_from_run_to_run(chain: User) -> None:
    given = chain.given()
    assert times_error(given) is None
    one = past(chain, {"J0": 10.0})
    assert times_error(replace(given, history=one)) is None
    same = past(chain, {"J0": 10.0, "J1": 3.0}, {"J0": 10.0, "J1": 3.0})
    assert times_error(replace(given, history=same)) == 0.0
    apart = past(chain, {"J0": 1.0}, {"J0": 2.718281828**2})
    assert times_error(replace(given, history=apart)) == pytest.approx(2**0.5)


@pytest.mark.parametrize("policy", ["user", "workflow"])
def test_a_user_or_a_workflow_has_one_stream(chain: User, policy: str) -> None:
    assert len(set(streams(chain, policy).values())) == 1


def test_a_cohort_dies_in_one_level(chain: User) -> None:
    found = streams(chain, "cohort")
    assert found["kept"] == found["out"] == found["c"]
    assert len({found[lfn] for lfn in ("in", "a", "b", "c")}) == 4


def test_by_lifetime_long_lives_are_apart_from_short_ones(chain: User) -> None:
    found = streams(chain, "lifetime")
    assert (found["in"], found["a"], found["kept"]) == ("short", "medium", "extreme")
    reason = chain.placed("kept").reason
    assert reason.endswith("; stream extreme (by lifetime: it lives 4 of 4 levels)")


@pytest.mark.parametrize("mode", ["transient", "hybrid"])
def test_in_other_modes_there_are_none(chain: User, mode: str) -> None:
    chain.defines = [f"pegasus.bb.mode={mode}"]
    assert set(streams(chain, "lifetime").values()) == {""}


def auto(user: User, *runs: dict[str, float]) -> tuple[str, dict[str, float]]:
    """What `auto` takes after these earlier runs, and the WAF of each policy."""
    user.tier["streams"] = "auto"
    given = user.given()
    if runs:
        given = replace(given, history=past(user, *runs))
    placed = place_files(given, given.catalogs.tiers["cluster"][0])
    decision = with_capacity(given, placed)
    assert decision.streams is not None
    policy, why = decision.streams
    _, _, simulated = why.partition("; simulated: ")
    pairs = (each.rsplit(" ", 1) for each in simulated.split(", "))
    return policy, {name: float(waf) for name, waf in pairs}


@pytest.fixture
def mixed(chain: User) -> User:
    """Short and long lives at all times: each level writes a file for the next one, and
    one for the end."""
    chain.jobs = [
        job(
            f"J{n}",
            *([use(f"short{n - 1}", "input")] if n else []),
            *([use(f"long{k}", "input") for k in range(12)] if n == 12 else []),
            use(f"short{n}", "output", stageOut=False, **sized(100)),
            use(f"long{n}", "output", stageOut=False, **sized(60)),
        )
        for n in range(13)
    ]
    return chain


def run_times(more: float) -> list[dict[str, float]]:
    """Two earlier runs; in the second one every other job took ``more`` as long."""
    first = {f"J{n}": 100.0 for n in range(13)}
    return [first, {**first, **{f"J{n}": more * 100 for n in range(1, 13, 2)}}]


def test_auto_takes_what_simulates_lowest(mixed: User) -> None:
    """By the files of this workflow, at the known error."""
    policy, wafs = auto(mixed, *run_times(1.0))
    assert policy == "lifetime" == min(wafs, key=lambda name: wafs[name])
    assert wafs["lifetime"] < wafs["off"] - 0.1


def test_where_the_error_is_unknown_no_times_are_needed(mixed: User) -> None:
    for runs in ([], run_times(1.0)[:1]):
        policy, wafs = auto(mixed, *runs)
        assert "lifetime" not in wafs
        assert policy == min(wafs, key=lambda name: wafs[name])


def test_explain_shows_policy_and_streams(
    chain: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain.tier["streams"] = "auto"
    chain.read()
    monkeypatch.chdir(chain.folder)
    shown = CliRunner().invoke(command, [])
    assert " (auto: the error of run times is unknown; sim" in shown.output
    data = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    assert f"streams: by {data['streams'][0]} (auto" in shown.output
    assert {file["stream"] for file in data["files"]} <= set(HINTS)


def test_outputs_are_made_beforehand_where_the_program_wants_that(chain: User) -> None:
    chain.tier["streams"] = "lifetime"
    assert outputs_to_make(chain.given(), chain.decide()) == {}
    profile = {"pegasus": {"bb.hints": "on"}}
    site = {"name": "cluster", "pfn": "/bin/work", "type": "installed"}
    entry = {"name": "work", "sites": [site], "profiles": profile}
    chain.transformations = [entry]
    chain.jobs[0]["profiles"] = {"pegasus": {"bb.hints": "off"}}
    found = outputs_to_make(chain.given(), chain.decide())
    short = HINTS["short"]
    medium = HINTS["medium"]
    assert found == {"J1": {"b": medium}, "J2": {"c": medium}, "J3": {"out": short}}
    chain.tier["streams"] = "off"
    assert outputs_to_make(chain.given(), chain.decide()) == {}


def test_a_profile_that_is_neither_on_nor_off_is_refused(chain: User) -> None:
    chain.tier["streams"] = "user"
    chain.jobs[0]["profiles"] = {"pegasus": {"bb.hints": "maybe"}}
    with pytest.raises(CatalogError, match=r"odd profile bb\.hints"):
        outputs_to_make(chain.given(), chain.decide())
