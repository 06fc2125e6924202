"""A user's catalogs as they are: what Pegasus would add need not be there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.cli.plan_options import options_of
from tests.support.pegasus_site import SITES, UserFolder

BUILT_IN = ("--bb-planner", "builtin")


@pytest.fixture
def user(tmp_path: Path) -> UserFolder:
    return UserFolder(tmp_path)


def test_results_go_to_wf_output_without_a_site_local_in_the_catalog(
    user: UserFolder,
) -> None:
    with user.edited("sites.yml") as sites:
        del sites["sites"][0]
    said = user.told("persistent", *BUILT_IN)
    done = user.bb("run", str(user.submit))
    assert done.returncode == 0, done.stdout + done.stderr
    beside = user.submit.parent / "wf-output"
    assert f"results:  to {beside} (site local)" in said.splitlines()
    assert (beside / "out.txt").read_text() == "hello\n"


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        ((), "/me"),
        (("--dir", "runs"), "/me"),
        (("--dir", "runs/dags"), "/me/runs"),
        (("--dir", "runs/dags", "--relative-submit-dir", "r"), "/me/runs/dags"),
        (("--relative-submit-dir", "a/b"), "/me/a"),
    ],
)
def test_the_folders_of_a_site_that_pegasus_makes_are_beside_those_of_runs(
    words: tuple[str, ...], folder: str
) -> None:
    """As pegasus-plan 5.1.3 chooses them."""
    assert options_of(words, Path("/me")).folder_of_sites == Path(folder)


def test_a_site_that_no_catalog_declares_is_named(user: UserFolder) -> None:
    (user.work / "sites.yml").unlink()
    said = user.refused("off", *BUILT_IN)
    assert "--sites cori: there is no sites.yml; one of local, condorpool" in said


def test_a_site_catalog_and_an_input_folder_need_not_be_there(user: UserFolder) -> None:
    """The sites are then those that Pegasus makes; a line says so."""
    with user.edited("sites.yml") as sites:
        (tier,) = sites["x-storage-tiers"]["cori"]
    (user.work / "bb.yml").write_text(
        json.dumps({"x-storage-tiers": {"condorpool": [tier]}})
    )
    with user.edited("transformations.yml") as programs:
        for program in programs["transformations"]:
            program["sites"][0]["name"] = "condorpool"
    with user.edited("replicas.yml") as replicas:
        replicas["replicas"][0]["pfns"][0]["site"] = "local"
    given = ("-s", "condorpool", "-o", "local", "-I", "nowhere", *BUILT_IN)
    gone = ("-Dpegasus.catalog.site.file=conf/sites.yml", "--conf", "no.properties")
    done = user.bb("plan", *given, *gone, "--bb-mode", "persistent", "workflow.yml")
    assert done.returncode == 0, done.stderr
    assert f"there is no {user.work}/conf/sites.yml: it counts as empty" in done.stderr
    assert "--conf no.properties: there is no such file; it counts" in done.stderr
    assert "--input-dir nowhere: there is no such folder; it counts" in done.stderr


def test_a_catalog_may_name_the_folder_of_pegasus_as_its_planner_does(
    user: UserFolder,
) -> None:
    user.program("pegasus/bin", "pegasus-config", "#!/bin/sh\n")
    with user.edited("sites.yml") as sites:
        (cori,) = (site for site in sites["sites"] if site["name"] == "cori")
        cori["profiles"].setdefault("env", {})["TOOLS"] = "${PEGASUS_BIN_DIR}/.."
    home = {"PEGASUS_HOME": str(user.root / "pegasus")}
    user.told("persistent", *BUILT_IN, **home)
    text = next(user.submit.rglob("cat1_*.sub")).read_text()
    assert f"TOOLS={user.root}/pegasus/bin/.." in text


def test_each_catalog_may_have_another_form(user: UserFolder) -> None:
    """Tiers in bb.yml, a repository of sites, a folder of programs, replicas as lines;
    the summary says where the tier stands."""
    work = user.work
    said = {"replica": "File", "replica.file": "rc.data"}
    said["site.repo.file"] = "machines.yml"
    forms = [f"-Dpegasus.catalog.{key}={value}" for key, value in said.items()]
    done = user.try_plan("off", *BUILT_IN, forms[-1])
    assert f"there is no {work}/machines.yml" in done.stderr
    with user.edited("sites.yml") as sites:
        tiers = {"x-storage-tiers": sites.pop("x-storage-tiers")}
        machines = {"pegasus": "5.0", "sites": [sites["sites"].pop()]}
    (work / "bb.yml").write_text(json.dumps(tiers))
    (work / "machines.yml").write_text(json.dumps(machines))
    (work / "transformations.yml").unlink()
    (work / "programs").mkdir()
    (work / "cat1.sh").rename(work / "programs" / "cat1.sh")
    (work / "programs" / "readme.txt").write_text("cat1 is a program")
    (work / "replicas.yml").unlink()
    (work / "rc.data").write_text(f'in.txt {work}/in.txt site="local"\n')
    words = (*BUILT_IN, *forms, "--transformations-dir", "programs")
    said = user.told("persistent", "--force", *words)
    assert "machines.yml" not in said
    assert "directory (the first of bb.yml)" in said
    assert str(work / "bb.yml") in user.read("planned_by.json")["read"]
    assert user.run() == "hello\n"


@pytest.mark.parametrize("words", ["local", "cori=local", "cori", "far=x,cori=cori"])
def test_the_reservation_takes_the_place_of_the_staging_site(
    user: UserFolder, words: str
) -> None:
    said = user.told("persistent", *BUILT_IN, "--staging-site", words)
    site = words.rpartition("=")[2]
    note = f"--staging-site {site}: the reservation takes its place"
    assert said.splitlines().count(note) == 1
    for command in ("check", "explain"):
        told = user.bb(command, *SITES, "--staging-site", words, *BUILT_IN)
        assert told.returncode == 0, told.stderr
        assert note in " ".join((told.stdout + told.stderr).split())


@pytest.mark.parametrize("mode", ["off", "transient"])
def test_without_a_shared_reservation_the_scratch_of_the_site_does(
    user: UserFolder, mode: str
) -> None:
    told = user.try_plan(mode, *BUILT_IN, "--staging-site", "local").stderr
    assert "local: the scratch of site cori takes its place" in told
    own = user.try_plan(mode, *BUILT_IN, "--force", "--staging-site", "cori").stderr
    assert "--staging-site" not in own


def test_a_third_staging_site_is_known_and_not_used(user: UserFolder) -> None:
    with user.edited("sites.yml") as sites:
        far = {"type": "sharedScratch", "path": "/far"}
        far["fileServers"] = [{"operation": "all", "url": "s3://me@far/bucket"}]
        sites["sites"].append({"name": "osn", "directories": [far]})
    words = (*BUILT_IN, "--staging-site", "cori=osn")
    said = user.told("persistent", *words)
    assert "--staging-site osn: the reservation takes its place" in said
    assert user.run() == "hello\n"
    told = user.try_plan("transient", "--force", *words).stderr
    assert "--staging-site osn: the scratch of site cori takes its place" in told


@pytest.mark.parametrize("command", ["plan", "check", "explain"])
def test_a_staging_site_that_no_catalog_has_is_refused(
    user: UserFolder, command: str
) -> None:
    done = user.bb(command, *SITES, "--staging-site", "cori=osn", *BUILT_IN)
    assert done.returncode == 2
    text = " ".join((done.stdout + done.stderr).split())
    assert "--staging-site osn: " in text
    assert "declares no such site" in text


def test_a_copy_that_is_missing_on_any_output_site_keeps_the_reservation(
    user: UserFolder,
) -> None:
    kept = user.work / "kept"
    with user.edited("sites.yml") as sites:
        storage = {"type": "sharedStorage", "path": str(kept)}
        sites["sites"][1]["directories"].append(storage)
    user.plan("persistent", "--output-sites", "local,cori", *BUILT_IN)
    kept.write_text("no folder")
    failed = user.bb("run", str(user.submit))
    assert failed.returncode != 0
    assert user.standing
    kept.unlink()
    assert user.run() == "hello\n"
    assert (kept / "out.txt").read_text() == "hello\n"
    assert not user.standing


def test_one_folder_cannot_be_that_of_two_output_sites(user: UserFolder) -> None:
    words = ("--output-sites", "local,cori", *BUILT_IN)
    done = user.try_plan("persistent", "--output-dir", "results", *words)
    assert "names 2 sites; name one of them" in done.stderr
    done = user.try_plan("persistent", *words)
    assert "site cori has no storage directory for results" in done.stderr


def test_no_result_takes_the_place_of_an_input_on_any_output_site(
    user: UserFolder,
) -> None:
    with user.edited("sites.yml") as sites:
        storage = {"type": "sharedStorage", "path": str(user.work)}
        sites["sites"][1]["directories"].append(storage)
    with user.edited("workflow.yml") as workflow:
        workflow["jobs"][1]["uses"][1]["lfn"] = "cat1.sh"
    with user.edited("replicas.yml") as replicas:
        replicas["replicas"][0]["pfns"][0]["pfn"] = str(user.work / "cat1.sh")
    words = ("--output-sites", "local,cori", *BUILT_IN)
    said = user.refused("persistent", *words)
    assert "would take the place of the input 'in.txt'" in said


@pytest.mark.parametrize("mode", ["off", "persistent"])
def test_a_task_that_wants_no_kickstart_finds_its_files_all_the_same(
    user: UserFolder, mode: str
) -> None:
    with user.edited("workflow.yml") as workflow:
        values = ("none", "PegasusLite.None")
        for job, value in zip(workflow["jobs"], values, strict=True):
            job["profiles"] = {"pegasus": {"gridstart": value}}
    said = user.told(mode, *BUILT_IN)
    assert "gridstart none, PegasusLite.None: launch and the recorder start" in said
    assert user.run() == "hello\n"


def test_a_program_that_is_installed_is_staged_if_the_mapper_says_so(
    user: UserFolder,
) -> None:
    with user.edited("transformations.yml") as data:
        sites = data["transformations"][0]["sites"]
        sites.append({**sites[0], "name": "local", "type": "stageable"})
        sites[0]["pfn"] = "/bin/false"
    staged = "-Dpegasus.catalog.transformation.mapper=Staged"
    user.plan("persistent", *BUILT_IN, staged)
    assert user.run() == "hello\n"


def test_a_property_is_a_profile_of_a_site(user: UserFolder) -> None:
    key = "pegasus.catalog.site.sites.cori.profiles.env.GREETING"
    said = user.told("persistent", *BUILT_IN, f"-D{key}=hello-there")
    assert "leaves out" not in said
    (submit_file,) = user.submit.glob("00/00/cat1_ID1.sub")
    assert "GREETING=hello-there" in submit_file.read_text()
