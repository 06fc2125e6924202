"""The whole way through another planner, which a small program plays."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from pegasus_bb.model.dag.reader import read_dag
from tests.planner.pegasus_user import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_what_the_planner_wrote_is_sealed_and_can_run(user: User) -> None:
    done = user.on_tier()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "planned\n"
    dag = read_dag(user.submit / "demo-0.dag")
    gate = dag.nodes["create_dir_demo_0_cori"].pre
    assert gate is not None
    assert gate.executable == str(user.submit / "bb" / "bin" / "gate")
    assert dag.children["bb_setup_BB0000001"] == ["create_dir_demo_0_cori"]
    assert dag.children["cleanup_demo_0_cori"] == ["bb_delete_BB0000002"]
    placement = user.read("placement.json")
    assert placement["outputs"] == {"out.txt": "file:///home/wfuser/out/out.txt"}
    assert placement["scratch"].startswith(user.read("request.json")["prefix"] + "/")
    assert user.read("plan.json")["planner"] == "pegasus-plan 5.1.2"
    leaf = (user.submit / "00/00/cleanup_demo_0_cori.sub").read_text()
    assert " -w /tmp " in leaf  # not in the folder that it removes


def test_what_was_decided_and_what_runs_it_is_told(user: User) -> None:
    done = user.on_tier()
    told = done.stderr.splitlines()
    assert f"planner:  pegasus-plan 5.1.2 in {user.home}/bin (PEGASUS_HOME)" in told
    assert "tier:     bb of site cori, directory (the first of sites.yml)" in told
    assert any("capacity: 12.0 MiB = 12582912 bytes" in line for line in told)
    assert told[-1] == f"or: pegasus-bb run {user.submit}, to follow it"
    quiet = user.on_tier("--json", "--force")
    assert "planner:" not in quiet.stderr and "to follow it" not in quiet.stderr
    assert json.loads(quiet.stdout) == {"submit_dir": str(user.submit)}
    assert "to follow it" not in user.on_tier("--submit", "--force").stderr


def test_a_dry_run_calls_no_planner_and_refuses_what_a_planning_does(
    user: User,
) -> None:
    dry = user.on_tier("--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert not (user.root / "calls").exists()
    assert not user.submit.exists()
    user.on_tier()
    planned = user.on_tier()
    dry = user.on_tier("--dry-run")
    assert "--force moves it aside" in planned.stderr
    assert dry.stderr == planned.stderr
    passed = ("--staging-site", "elsewhere", "--force")
    planned = user.on_tier(*passed)
    dry = user.on_tier("--dry-run", *passed)
    assert (planned.returncode, dry.returncode) == (2, 2)
    assert dry.stderr == planned.stderr


def test_without_a_pegasus_the_reason_for_the_built_in_planner_is_shown(
    user: User,
) -> None:
    told = user.on_tier(PEGASUS_HOME="", PATH="/nowhere").stderr
    why = "no pegasus-plan in PEGASUS_HOME or on PATH"
    assert f"planner:  built-in ({why})" in told.splitlines()


@pytest.mark.parametrize("alone", ["--randomdir", "--randomdir=there"])
def test_options_of_pegasus_plan_pass_and_ours_do_not(user: User, alone: str) -> None:
    words = [alone, "--cluster", "horizontal", "--cleanup", "constraint"]
    words += ["-v", "-Xmx1g"]
    user.plan("persistent", *words, "--json")
    calls = user.calls()
    given = {alone, "--cluster", "horizontal", "constraint", "--verbose", "-Xmx1g"}
    assert given <= set(calls)
    assert not any("bb-" in word for word in calls)
    assert calls[-1] == str(user.submit / "bb/planned/workflow.yml")


def test_with_local_beside_the_site_each_job_that_can_runs_on_the_site(
    user: User,
) -> None:
    """pegasus-plan would draw one of both for each job."""
    with user.edited("transformations.yml") as programs:
        sites = programs["transformations"][0]["sites"]
        sites.append({**sites[0], "name": "local"})
    user.plan("persistent", "--sites", "local,cori")
    planned = user.read("planned/workflow.yml")["jobs"]
    chosen = [
        job["profiles"]["selector"]["execution.site"]
        for job in planned
        if job["name"] == "cat1"
    ]
    assert chosen == ["cori"] * len(chosen)
    assert chosen


def test_a_program_of_any_release_is_staged_to_a_site_that_states_none(
    user: User,
) -> None:
    """pegasus-plan compares releases, and would run the job on local."""
    place = {"name": "local", "pfn": "/home/me/cat1", "type": "stageable"}
    release = {"os.release": "rhel", "os.version": "7"}
    with user.edited("transformations.yml") as programs:
        programs["transformations"][0]["sites"] = [{**place, **release}]
    user.plan("persistent", "--sites", "local,cori", "--no-check")
    planned = user.read("planned/transformations.yml")["transformations"]
    assert planned[0]["sites"] == [{**place, "name": "cori"}]
    with user.edited("sites.yml") as sites:
        sites["sites"][1].update(release)
    user.plan("persistent", "--sites", "local,cori", "--no-check", "--force")
    planned = user.read("planned/transformations.yml")["transformations"]
    assert planned[0]["sites"] == [{**place, **release, "name": "cori"}]


def test_it_is_submitted_only_when_it_is_sealed(user: User) -> None:
    words = ("--submit", "--forward", "nodatabase=1")
    user.refused("persistent", *words, FAKE_UNSEALABLE="1")
    assert not (user.root / "submitted").exists()
    user.plan("persistent", *words)
    said = (user.root / "submitted").read_text().split()
    assert said == ["--nodatabase", "1", str(user.submit)]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("FAKE_UNSEALABLE", "would not wait for the gate"),
        ("FAKE_FAILS", "pegasus-plan ended with exit status 1"),
        ("FAKE_NO_STAGE_OUT", "'out.txt' of job ID2 would vanish"),
    ],
)
def test_what_goes_wrong_leaves_nothing_behind(
    user: User, fault: str, words: str
) -> None:
    said = user.refused("persistent", **{fault: "1"})
    assert words in said
    assert not (user.work / "submit").exists()


def test_a_run_that_was_moved_aside_comes_back(user: User) -> None:
    user.plan("persistent")
    before = (user.submit / "demo-0.dag").read_bytes()
    assert user.on_tier("--force", FAKE_UNSEALABLE="1").returncode == 2
    assert (user.submit / "demo-0.dag").read_bytes() == before
    kept = {p.name for p in (user.work / "submit").iterdir()}
    assert kept == {"r", getpass.getuser()}  # pegasus-plan makes that in any case


def test_what_pegasus_takes_inside_a_workflow_it_takes_in_a_file(user: User) -> None:
    """The schema of a file needs a version, and text where YAML has a number."""
    with user.edited("sites.yml") as sites, user.edited("workflow.yml") as workflow:
        workflow["siteCatalog"] = sites
        del workflow["siteCatalog"]["pegasus"]
        sites["sites"][0].update({"os.release": "rhel", "os.version": 8})
    user.plan("persistent")
    planned = user.read("planned/sites.yml")
    assert planned["pegasus"] == "5.0"
    assert planned["sites"][0]["os.version"] == "8"
    programs = user.read("planned/transformations.yml")["transformations"]
    (setup,) = (entry for entry in programs if entry["name"] == "bb_setup")
    assert setup["sites"][0]["os.release"] == "rhel"
    assert setup["sites"][0]["os.version"] == "8"


def test_no_catalog_points_to_a_file_that_goes_with_the_buffer(user: User) -> None:
    user.on_tier()
    uses = [u for j in user.read("planned/workflow.yml")["jobs"] for u in j["uses"]]
    registered = {u["lfn"]: u["registerReplica"] for u in uses if "stageOut" in u}
    assert registered == {"mid.txt": False, "out.txt": True}


def test_a_checkpoint_that_need_not_be_written_is_not_staged_out(user: User) -> None:
    use = {"lfn": "state", "type": "checkpoint", "stageOut": True}
    with user.edited("workflow.yml") as data:
        data["jobs"][0]["uses"].append(use)
    done = user.on_tier()
    assert "checkpoint files (state) are kept for retries" in done.stderr
    given = user.read("planned/workflow.yml")["jobs"][0]["uses"]
    assert given[-1] == {**use, "stageOut": False, "registerReplica": False}


def test_mode_off_is_the_users_own_command_line(user: User) -> None:
    words = ["--sites", "cori", "--conf", "x y", "workflow.yml", "-Dpegasus.mode=d"]
    (user.work / "x y").write_text("pegasus.mode = d\n")
    user.tool("pegasus-plan", f'for a; do echo "$a"; done > {user.root}/calls')
    done = user.bb("plan", "--bb-mode", "off", *words, "-Dpegasus.bb.wait=2h")
    assert done.returncode == 0, done.stderr
    assert (user.root / "calls").read_text().splitlines() == words


def test_the_built_in_planner_plans_if_the_user_asks_for_it(user: User) -> None:
    user.plan("persistent", "--bb-planner", "builtin", "--randomdir")
    assert not (user.root / "calls").exists()
    done = user.on_tier("--bb-planner", "builtin", "--output-map", "m")
    assert "--output-map is an option of pegasus-plan" in done.stderr


@pytest.mark.parametrize("there", ["no home", "no program", "our own hook"])
def test_without_a_pegasus_the_planner_does_not_change_in_silence(
    user: User, there: str
) -> None:
    program = user.home / "bin/pegasus-plan"
    more = {"PATH": "/nowhere"}
    words = "there is no pegasus-plan"
    asked = () if there == "no program" else ("--bb-planner", "pegasus")
    if there == "no home":
        words, more["PEGASUS_HOME"] = "set PEGASUS_HOME", ""
    elif there == "no program":
        words += f" in {user.home}/bin"
        program.unlink()
    else:
        hook = Path(__file__).parents[2] / "planner-hooks" / "pegasus-plan"
        program.write_bytes(hook.read_bytes())
    said = user.refused("persistent", *asked, **more)
    assert words in said
    assert not user.submit.exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--job-prefix", "x"], "renames every node"),
        (["--staging-site", "cori=other"], "declares no such site"),
        (["--basename", "a b"], "splits its arguments"),
        (["-Dpegasus.data.configuration=share"], "did you mean sharedfs"),
        (["-Dpegasus.gridstart.path=/bin/true"], "only Kickstart's record says how"),
    ],
)
def test_what_would_lead_off_the_buffer_is_refused(
    user: User, words: list[str], why: str
) -> None:
    said = user.refused("persistent", *words)
    assert why in said
    assert not (user.root / "calls").exists()


@pytest.mark.parametrize(
    ("kind", "arguments", "capacity", "why"),
    [
        ("condorWorkflow", "", "10MiB", "no planner plans the jobs of a DAG"),
        ("pegasusWorkflow", "--randomdir=x", "10MiB", "would not run on the buffer"),
        ("pegasusWorkflow", "-Ddagman.POST.scope=none", "10MiB", "could count as succ"),
        ("pegasusWorkflow", "-o local", "auto", "are not known before it is planned"),
        ("pegasusWorkflow", "", "10MiB", "no job stages the results"),
    ],
)
def test_a_sub_workflow_that_cannot_be_done_right_is_refused(
    user: User, kind: str, arguments: str, capacity: str, why: str
) -> None:
    inner = {"type": kind, "file": "inner.yml", "id": "SUB", "uses": []}
    with user.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            for use in job["uses"]:
                use["metadata"] = {"size": 10}
        workflow["jobs"].append({**inner, "arguments": arguments.split()})
    said = user.refused("persistent", "--bb-capacity", capacity)
    assert why in said


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        ("sites.yml", ("sites", 0)),
        ("sites.yml", ("sites", 1)),
        ("transformations.yml", ("transformations", 0)),
        ("transformations.yml", ("transformations", 0, "sites", 0)),
        ("workflow.yml", ("jobs", 1)),
    ],
)
def test_a_program_in_the_place_of_kickstart_is_refused(
    user: User, file: str, keys: tuple[str | int, ...]
) -> None:
    with user.edited(file) as at:
        for key in keys:
            at = at[key]
        own = at.setdefault("profiles", {}).setdefault("pegasus", {})
        own["gridstart.path"] = "/true"
    said = user.refused("persistent")
    assert "run under this program" in said
    assert file in said


def test_pegasus_gets_the_programs_that_the_mapper_of_the_user_takes(
    user: User,
) -> None:
    """With a mapper of its own it would find no program for bb_setup."""
    key = "pegasus.catalog.transformation.mapper"
    with user.edited("transformations.yml") as data:
        data["transformations"][0]["sites"][0]["type"] = "stageable"
    user.plan("persistent", f"-D{key}=Staged")
    programs = user.read("planned/transformations.yml")["transformations"]
    assert {"cat1", "bb_setup", "bb_delete"} <= {each["name"] for each in programs}
    properties = user.submit / "bb" / "planned" / "pegasus.properties"
    assert f"{key}=All" in properties.read_text()


def test_our_programs_take_the_place_of_those_of_pegasus_that_are_named_nowhere(
    user: User,
) -> None:
    """With sharedfs pegasus-plan would ask for PEGASUS_HOME in the site catalog, and
    make no clusters."""

    def ours(*words: str) -> dict[str, str]:
        user.plan("persistent", "--force", *words)
        known = user.read("planned/transformations.yml")["transformations"]
        own = [entry for entry in known if entry.get("namespace") == "pegasus"]
        programs = {entry["name"]: entry["sites"][0]["pfn"] for entry in own}
        return {n: pfn for n, pfn in programs.items() if n in ("kickstart", "seqexec")}

    assert ours() == {}
    with user.edited("sites.yml") as data:
        for site in data["sites"]:
            site.get("profiles", {}).pop("env", None)
    record, cluster = (str(user.submit / "bb/bin" / n) for n in ("record", "cluster"))
    both = {"kickstart": record, "seqexec": cluster}
    assert ours("-Denv.PEGASUS_HOME=/opt/pegasus") == both  # 5.1.3 does not look there
    assert ours("-Dpegasus.transfer.worker.package=true") == both
    conf = (user.submit / "bb/planned/pegasus.properties").read_text()
    assert "pegasus.transfer.worker.package=false" in conf
    own = "-Dpegasus.gridstart.path=/opt/bin/pegasus-kickstart"
    assert ours(own) == {"seqexec": cluster}
    log = "-Dpegasus.clusterer.job.aggregator.seqexec.log=true"
    assert ours(log) == {"kickstart": record}


def test_a_workflow_of_which_pegasus_leaves_nothing_uses_no_tier(user: User) -> None:
    done = user.on_tier(FAKE_REUSES_ALL="1")
    assert "pegasus-plan leaves out every job" in done.stderr
    assert "planned as in mode off" in done.stderr
    calls = user.calls()
    assert not any(word.startswith("--bb-") for word in calls)
    assert "--conf" not in calls
    assert not (user.submit / "bb").exists()
