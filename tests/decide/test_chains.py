"""Which jobs stay together on one node, and what that costs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegasus_bb.decide.decision import Chains, WeighedCut
from pegasus_bb.planner.plan_summary import node_disk_lines
from tests.support.user_files import User, job, sized, use

MINUTE = 60


def read(*lfns: str) -> list[dict[str, Any]]:
    return [use(lfn, "input") for lfn in lfns]


def make(*lfns: str, result: bool = False) -> list[dict[str, Any]]:
    return [use(lfn, "output", stageOut=result, **sized("3MiB")) for lfn in lfns]


@pytest.fixture
def tree(user: User) -> User:
    """A line a, b, c; beside it leg, which b feeds; and far, which c and x feed."""
    user.defines = ["pegasus.bb.mode=transient", "pegasus.bb.headroom=0"]
    user.tier = {"backend": "node-local", "path": "/nvme", "granularity": "1MiB"}
    user.jobs = [
        job("a", *make("a.out")),
        job("b", *read("a.out"), *make("b.out")),
        job("c", *read("b.out"), *make("c.out", result=True)),
        job("leg", *read("b.out"), *make("leg.out", result=True)),
        job("x", *make("x.out")),
        job("far", *read("c.out", "x.out"), *make("far.out", result=True)),
    ]
    return user


def found(user: User, *defines: str) -> Chains | None:
    user.defines = [*user.defines, *(f"pegasus.bb.{each}" for each in defines)]
    return user.decision().chains


def jobs(user: User, *defines: str) -> list[str]:
    chains = found(user, *defines)
    return [" ".join(chain.jobs) for chain in chains.found] if chains else []


def timed(user: User, **seconds: int) -> None:
    for each in user.jobs:
        time = seconds.get(each["id"], 5 * MINUTE)
        each["profiles"] = {"pegasus": {"runtime": time}}


def test_off_makes_none_and_auto_only_lines(tree: User) -> None:
    assert jobs(tree) == []
    assert jobs(tree, "chains=auto") == ["a b"]
    timed(tree)
    assert jobs(tree, "chains=auto") == ["a b"]


def test_a_program_says_the_run_times_of_its_jobs(tree: User) -> None:
    profiles = {"pegasus": {"runtime": 5 * MINUTE}}
    tree.transformations = [{"name": "work", "profiles": profiles, "sites": []}]
    tree.jobs[0]["profiles"] = {"pegasus": {"runtime": 35 * MINUTE}}
    chains = found(tree, "chains=on", "chain.time=50m")
    assert chains is not None
    assert [chain.jobs for chain in chains.found] == [("a", "b", "c", "leg")]
    assert chains.span == (50 * MINUTE, 55 * MINUTE)


def test_on_takes_what_may_be_together_where_run_times_are_known(tree: User) -> None:
    assert jobs(tree, "chains=on") == ["a b"]
    timed(tree)
    assert jobs(tree, "chains=on") == ["a x b c leg far"]


def test_chains_that_wait_for_other_jobs_than_each_other_stay_apart(
    tree: User,
) -> None:
    """Only c waits for w; as one chain with x, far would wait for w as well."""
    tree.jobs[2]["uses"] = [*read("w.out"), *make("c.out")]
    tree.jobs += [job("w", *make("w.out")), job("v", *read("w.out"), *make("v.out"))]
    timed(tree, w=60 * MINUTE)
    assert jobs(tree, "chains=on") == ["a b leg"]


def test_chains_that_wait_for_the_same_jobs_become_one(tree: User) -> None:
    """Both c and x wait for w, which is no part of a chain."""
    for place in (2, 4):
        tree.jobs[place]["uses"] += read("w.out")
    tree.jobs[2]["uses"] = [*make("c.out"), *read("w.out")]
    tree.jobs += [job("w", *make("w.out"))]
    timed(tree, w=60 * MINUTE)
    assert jobs(tree, "chains=on") == ["a b leg", "c x far"]


def test_a_montage_is_one_chain_for_each_band(user: User) -> None:
    """Each file has several readers, and nearly each job several parents."""
    bands(user, "RGB")
    timed(user, **{each["id"]: 60 for each in user.jobs})
    every = jobs(user, "chains=on", "chain.time=9m")
    assert every == [
        f"{band}1 {band}2 {band}diff {band}fit {band}back1 {band}back2 {band}add"
        for band in "RGB"
    ]
    assert len(jobs(user, "chain.time=1h")) == 1


def bands(user: User, names: str) -> None:
    user.defines = ["pegasus.bb.mode=transient"]
    user.tier = {"backend": "node-local", "path": "/nvme"}
    user.jobs = []
    for band in names:
        images = [f"{band}1", f"{band}2"]
        user.jobs += [job(name, *make(name)) for name in images]
        user.jobs += [
            job(f"{band}diff", *read(*images), *make(f"{band}diff")),
            job(f"{band}fit", *read(f"{band}diff"), *make(f"{band}fit")),
        ]
        for n in (1, 2):
            uses = read(f"{band}{n}", f"{band}fit"), make(f"{band}back{n}")
            user.jobs.append(job(f"{band}back{n}", *uses[0], *uses[1]))
        backs = read(f"{band}back1", f"{band}back2")
        user.jobs.append(job(f"{band}add", *backs, *make(f"{band}add")))
    adds = read(*(f"{band}add" for band in names))
    user.jobs.append(job("view", *adds, *make("view", result=True)))


def test_what_it_saves_and_costs_is_told(tree: User) -> None:
    timed(tree, leg=20 * MINUTE)
    chains = found(tree, "chains=on", "chain.time=40m")
    assert chains is not None
    (chain,) = chains.found
    assert chain.reservation.stay == ("a.out", "b.out")
    assert chain.reservation.stage_out == ("c.out", "leg.out")
    assert chain.stays == 6 << 20
    assert chains.span == (30 * MINUTE, 40 * MINUTE)
    assert chains.width == (2, 2)


def test_a_file_that_another_job_reads_leaves_the_node(tree: User) -> None:
    tree.jobs += [job("z", *read("a.out", "b.out"), *make("z.out", result=True))]
    timed(tree, z=60 * MINUTE)
    (chain,) = found(tree, "chains=on").found  # type: ignore[union-attr]
    assert chain.jobs == ("a", "x", "b", "c", "leg", "far")
    assert chain.reservation.stay == ("x.out",)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ({"quota": "9MiB"}, ["a b c"]),
        ({"quota": "8MiB"}, ["a b"]),
        ({"largest": "11MiB", "request": "-C nvme"}, ["a b c"]),
        ({"capacity": "12MiB"}, ["a b c far"]),
    ],
)
def test_a_chain_fits_on_the_disk(
    tree: User, limit: dict[str, str], expected: list[str]
) -> None:
    tree.tier |= limit
    if "request" in limit:
        tree.defines.append("pegasus.style=glite")
    tree.jobs = [*tree.jobs[:3], tree.jobs[-1]]
    tree.jobs[3]["uses"] = [*read("c.out"), *make("far.out", result=True)]
    assert jobs(tree, "chains=on") == expected


@pytest.mark.parametrize(
    ("limit", "defines", "why"),
    [
        ({"quota": "8MiB"}, [], "the quota of tier bb (8.0 MiB)"),
        (
            {"largest": "8MiB", "request": "request_disk={kib}"},
            [],
            "the key largest of tier bb (8.0 MiB)",
        ),
        ({"capacity": "8MiB"}, [], "the given capacity (8.0 MiB)"),
        ({}, ["chain.time=4m"], "--bb-chain-time (4 min 00 s)"),
        ({}, ["chain.time=4m", "chains=off"], ""),
    ],
)
def test_the_limit_that_alone_prevents_all_chains_is_told(
    tree: User, limit: dict[str, str], defines: list[str], why: str
) -> None:
    tree.tier |= limit
    tree.jobs = [job("a", *make("a.out", "more.out", result=True)), tree.jobs[1]]
    timed(tree)
    tree.defines += [f"pegasus.bb.{each}" for each in ("chains=auto", *defines)]
    given = tree.given()
    told = list(node_disk_lines(tree.decision(), given.settings))
    words = f"chains:   none: jobs that could be one chain exceed {why}"
    assert told[:1] == ([words] if why else [])


def test_without_a_limit_met_the_workflow_is_why_there_are_no_chains(
    tree: User,
) -> None:
    tree.jobs = tree.jobs[:1]
    tree.tier |= {"quota": "4MiB"}
    tree.defines.append("pegasus.bb.chains=auto")
    none, lines = node_disk_lines(tree.decision(), tree.given().settings)
    assert none.endswith(
        "none: no job is the only one that reads what its only parent makes"
    )
    assert lines.strip() == (
        "lines alone: others need run times (--bb-history, or the profile runtime) and "
        "speeds (x-storage-speeds or --bb-speeds)"
    )


def test_a_chain_takes_no_longer_than_its_limit(tree: User) -> None:
    timed(tree, a=40 * MINUTE)
    assert jobs(tree, "chains=on") == ["a b c leg"]
    assert jobs(tree, "chain.time=50m") == ["a b c"]
    assert jobs(tree, "chain.time=40m") == ["b c leg"]


@pytest.mark.parametrize(
    ("profiles", "auto", "on"),
    [
        ({"env": {"OMP_NUM_THREADS": "4"}}, [], []),
        ({"condor": {"requirements": "HasGPU"}}, [], []),
        ({"pegasus": {"queue": "long"}}, [], []),
        ({"pegasus": {"memory": 4096}}, [], ["a b"]),
        ({"pegasus": {"label": "mine", "bb.inputs": "copy"}}, ["a b"], ["a b"]),
    ],
)
def test_jobs_of_a_chain_ask_for_the_same(
    tree: User, profiles: dict[str, Any], auto: list[str], on: list[str]
) -> None:
    tree.jobs[1]["profiles"] = profiles
    assert jobs(tree, "chains=auto") == auto
    assert jobs(tree, "chains=on") == on


def test_a_job_with_a_script_of_its_own_stays_alone(tree: User) -> None:
    for each in tree.jobs:
        each["profiles"] = {"dagman": {"PRE": "/bin/true"}}
    assert jobs(tree, "chains=on") == []


def test_where_the_batch_system_stages_there_are_none(tree: User) -> None:
    tree.tier = {"backend": "datawarp"}
    assert jobs(tree, "chains=on") == []


def test_without_a_file_between_them_two_jobs_are_no_chain(user: User) -> None:
    user.tier = {"backend": "node-local", "path": "/nvme"}
    user.defines = ["pegasus.bb.mode=transient", "pegasus.bb.chains=on"]
    user.placement = "- {lfn: mid.txt, tier: pfs}\n- {lfn: keep.txt, tier: pfs}\n"
    user.replicas = {
        lfn: [{"site": "local", "pfn": f"/{lfn}"}] for lfn in ("in.txt", "ref.txt")
    }
    assert jobs(user) == []
    user.placement = ""
    assert jobs(user) == ["ID1 ID2"]


SPEEDS = {"pfs": {"read": "100MB/s", "write": "100MB/s"}, "slots": 8}


@pytest.fixture
def fan(user: User) -> User:
    """Four times: make, and three jobs that each read what it has made."""
    user.defines = ["pegasus.bb.mode=transient", "pegasus.bb.chains=auto"]
    user.tier = {"backend": "node-local", "path": "/nvme"}
    user.jobs = []
    for n in range(4):
        user.jobs += [job(f"m{n}", *large(f"{n}.out"))]
        user.jobs += [
            job(f"{n}{leg}", *read(f"{n}.out"), *make(f"{n}{leg}.out", result=True))
            for leg in "abc"
        ]
    return user


def large(lfn: str) -> list[dict[str, Any]]:
    return [use(lfn, "output", stageOut=False, **sized("3GB"))]


def weighed(
    user: User, seconds: int, **speeds: Any
) -> tuple[list[str], tuple[WeighedCut, ...]]:
    """The chains, and what the forecast has compared."""
    timed(user, **{each["id"]: seconds for each in user.jobs})
    known = {key: speed for key, speed in {**SPEEDS, **speeds}.items() if speed}
    text = json.dumps({"cluster": known})
    (user.folder / "speeds.yml").write_text(text)
    user.defines.append("pegasus.bb.speeds=speeds.yml")
    decision = user.decision()
    found = decision.chains.found if decision.chains else ()
    return [" ".join(chain.jobs) for chain in found], decision.cuts


LEGS = [f"m{n} {n}a {n}b {n}c" for n in range(4)]


def test_auto_takes_jobs_beside_the_line_where_the_bytes_win(fan: User) -> None:
    """Apart it writes 3 GB with three others, which then are read by eight jobs at a
    time, and then by four."""
    found, cuts = weighed(fan, 60)
    assert found == LEGS
    first, *_, last = cuts
    assert first == WeighedCut(4, 4, 12 * 10**9, pytest.approx(240, abs=1), True)
    apart = 60 + 120 + 2 * (240 + 60)
    assert last == WeighedCut(0, 0, 0, pytest.approx(apart, abs=1), False)


def test_auto_leaves_them_apart_where_the_parallelism_wins(fan: User) -> None:
    fan.jobs = fan.jobs[:8]
    found, cuts = weighed(fan, 600)
    assert found == []
    apart = 600 + 60 + 180 + 600
    seconds = [cut.seconds for cut in cuts]
    assert seconds == pytest.approx([2400, 600 + 600 + 60 + 120 + 600, apart], abs=1)
    given = fan.given()
    told = list(node_disk_lines(fan.decision(), given.settings))
    assert told[0].endswith("none: the forecast is no more than 5% shorter with them")
    assert [line.strip() for line in told[1:4]] == [
        "40 min 00 s of tasks and copies with 2 chains of 4 jobs at most, 5.6 GiB stay",
        "33 min 00 s of tasks and copies with 2 chains of 2 jobs at most, 0 B stay",
        "24 min 00 s of tasks and copies with no chain, 0 B stay: taken",
    ]


def test_no_parallelism_goes_where_other_chains_take_all_slots(fan: User) -> None:
    found, cuts = weighed(fan, 600, slots=4)
    assert found == LEGS
    apart = 600 + 120 + 3 * (120 + 600)
    assert cuts[-1].seconds == pytest.approx(apart, abs=1)


def test_without_stated_slots_each_job_has_one(fan: User) -> None:
    _, cuts = weighed(fan, 600, slots=None)
    apart = 600 + 120 + 360 + 600
    assert cuts[-1].seconds == pytest.approx(apart, abs=2)


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")])
def test_a_job_that_is_too_long_keeps_no_shorter_one_out(
    tree: User, order: tuple[str, str]
) -> None:
    tree.jobs = [tree.jobs[0], job("x", *make("x.out"))]
    for name in order:
        out = make(f"{name}.out", result=True)
        tree.jobs.append(job(name, *read("a.out", "x.out"), *out))
    timed(tree, long=55 * MINUTE)
    assert jobs(tree, "chains=on") == ["a x short"]


def test_of_cuts_that_are_about_as_fast_none_is_longer_than_it_need_be(
    fan: User,
) -> None:
    """One slot: all chains take as long, and the longest keep no more bytes."""
    fan.jobs += [job("end", *read(*(f"{n}a.out" for n in range(4))), *make("end"))]
    found, cuts = weighed(fan, 60, slots=1)
    assert cuts[0].jobs > 4
    assert found == LEGS


def test_a_gain_of_a_few_percent_is_no_reason_for_a_chain(fan: User) -> None:
    for each in fan.jobs:
        for file in each["uses"]:
            file.update(sized("1MB") if file["type"] == "output" else {})
    found, cuts = weighed(fan, 60, slots=4)
    assert found == []
    assert cuts[0].seconds < cuts[-1].seconds


def test_chains_are_as_long_as_is_fastest(user: User) -> None:
    """Three bands on three slots: one chain each, not all in one."""
    bands(user, "RGB")
    for file in (file for each in user.jobs for file in each["uses"]):
        file.update(sized("300MB") if file["type"] == "output" else {})
    user.defines.append("pegasus.bb.chains=auto")
    found, cuts = weighed(user, 60, slots=3)
    assert [chain.split()[0] for chain in found] == ["R1", "G1", "B1"]
    assert (cuts[0].jobs, cuts[0].is_taken) == (22, False)


def test_without_run_times_or_speeds_auto_takes_lines_alone(fan: User) -> None:
    assert jobs(fan) == []
    timed(fan)
    assert jobs(fan) == []
