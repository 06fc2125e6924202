"""A sub-workflow with properties and catalogs of its own runs on the buffer, too."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.planner.pegasus_user import User

CONF = "inner.properties"
PROGRAMS = "inner-programs.yml"


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Its inner catalog is named by a property, and is an input, as the file itself."""
    user = User(tmp_path)
    settings = {
        "pegasus.catalog.transformation.file": PROGRAMS,
        "pegasus.data.configuration": "condorio",
    }
    lines = (f"{key} = {value}\n" for key, value in settings.items())
    (user.work / CONF).write_text("".join(lines))
    own = [{"name": "own", "sites": [{"name": "cori", "pfn": "/opt/own"}]}]
    text = json.dumps({"pegasus": "5.0", "transformations": own})
    (user.work / PROGRAMS).write_text(text)
    with user.edited("replicas.yml") as data:
        for lfn in (CONF, PROGRAMS):
            pfns = [{"site": "local", "pfn": str(user.work / lfn)}]
            data["replicas"].append({"lfn": lfn, "pfns": pfns})
    return user


def plan(user: User, *words: str) -> subprocess.CompletedProcess[str]:
    """With a sub-workflow that has these arguments."""
    uses = [{"lfn": lfn, "type": "input"} for lfn in (CONF, PROGRAMS)]
    inner = {"type": "pegasusWorkflow", "file": "i.yml", "id": "SUB", "uses": uses}
    words = ("--output-sites", "local", *words)
    with user.edited("workflow.yml") as data:
        data["jobs"].append({**inner, "arguments": list(words)})
    return user.on_tier("--bb-capacity", "10MiB")


def planned(user: User, *words: str) -> tuple[str, dict[str, str], dict[str, Any]]:
    """The arguments of its planning, its properties, and its programs."""
    done = plan(user, *words)
    assert done.returncode == 0, done.stderr
    jobs = user.read("planned/workflow.yml")["jobs"]
    (job,) = [each for each in jobs if each["id"] == "SUB"]
    folder = user.submit / "bb/planned/inner2"
    text = (folder / "pegasus.properties").read_text()
    properties = dict(line.split("=", 1) for line in text.splitlines())
    file = properties["pegasus.catalog.transformation.file"]
    programs = json.loads(Path(file).read_text())["transformations"]
    assert str(folder / "pegasus.properties") in job["arguments"]
    known = {entry["name"]: entry["sites"][0]["pfn"] for entry in programs}
    return " ".join(job["arguments"]), properties, known


@pytest.mark.parametrize("words", [("--conf", CONF), (f"--conf={CONF} -vv",)])
def test_its_own_settings_get_what_the_outer_ones_get(
    user: User, words: tuple[str, ...]
) -> None:
    arguments, properties, programs = planned(user, *words)
    assert CONF not in arguments
    assert "--output-sites local" in arguments
    assert properties["pegasus.data.configuration"] == "sharedfs"
    assert programs["own"] == "/opt/own"
    assert programs["transfer"] == str(user.submit / "bb/bin/transfer")
    assert "cat1" not in programs
    sites = json.loads(Path(properties["pegasus.catalog.site.file"]).read_text())
    (cori,) = [site for site in sites["sites"] if site["name"] == "cori"]
    assert cori["profiles"]["pegasus"]["gridstart.launcher"].endswith("bb/bin/launch")
    assert cori["directories"][0]["path"] == user.read("request.json")["prefix"]


@pytest.mark.parametrize("staging", ["local", "web"])
def test_single_properties_and_the_staging_site_are_added_to_the_outer_ones(
    user: User, staging: str
) -> None:
    words = ("-Dpegasus.mode=development", "--staging-site", f"cori={staging}")
    arguments, properties, programs = planned(user, *words)
    assert "mode" not in arguments
    assert "staging" not in arguments
    assert properties["pegasus.mode"] == "development"
    assert {"cat1", "transfer"} <= programs.keys()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--conf", "made-later"], "not there key: jobs.2.arguments found: made-later"),
        (["-Dpegasus.gridstart.path=/true"], "only Kickstart's record says how"),
        (["-Dpegasus.gridstart.launcher=/true"], "so there can be no other"),
    ],
)
def test_what_would_not_run_on_the_buffer_is_refused(
    user: User, words: list[str], why: str
) -> None:
    done = plan(user, *words)
    assert done.returncode == 2
    assert why in " ".join(done.stderr.split())
    assert not user.submit.exists()


BOX = {"name": "box", "type": "singularity", "image": "/opt/box.sif"}


def in_a_box(user: User, **keys: str) -> None:
    """The inner catalog's program runs in a container."""
    with user.edited(PROGRAMS) as data:
        data["containers"] = [{**BOX, **keys}]
        data["transformations"][0]["sites"][0]["container"] = "box"


def test_a_container_of_its_own_catalog_is_started(user: User) -> None:
    in_a_box(user)
    done = plan(user, "--conf", CONF)
    assert done.returncode == 0, done.stderr
    found = user.read("containers.json")
    assert list(found["transformations"]) == ["own"]
    assert found["transformations"]["own"]["image"] == "/opt/box.sif"


def test_one_program_is_not_in_two_containers(user: User) -> None:
    in_a_box(user)
    with user.edited("transformations.yml") as data:
        data["transformations"].append(
            {"name": "own", "sites": [{"name": "cori", "pfn": "/opt/own"}]}
        )
    done = plan(user, "--conf", CONF)
    assert done.returncode == 2
    assert "own has another container, or none, in " in " ".join(done.stderr.split())


def test_an_image_that_nothing_brings_to_inner_jobs_is_refused(user: User) -> None:
    in_a_box(user, **{"image.site": "local"})
    done = plan(user, "--conf", CONF)
    assert done.returncode == 2
    assert "nothing brings them the image" in " ".join(done.stderr.split())


def test_a_container_of_the_catalog_that_both_name_is_taken(user: User) -> None:
    with user.edited("transformations.yml") as data:
        box = {"name": "box", "type": "singularity", "image": "/opt/box.sif"}
        data["containers"] = [box]
    (user.work / CONF).write_text(
        "pegasus.catalog.transformation.file = transformations.yml\n"
    )
    done = plan(user, "--conf", CONF)
    assert done.returncode == 0, done.stderr


def test_where_no_other_job_runs_one_that_does_nothing_brings_the_folder_and_the_gate(
    user: User,
) -> None:
    """pegasus-plan makes no folder on a site without jobs."""
    with user.edited("sites.yml") as data:
        (cori,) = (site for site in data["sites"] if site["name"] == "cori")
        cori.update({"arch": "x86_64", "os.type": "linux"})
    with user.edited("workflow.yml") as data:
        data.update(jobs=[], jobDependencies=[])
    done = plan(user)
    assert done.returncode == 0, done.stderr
    jobs = {job.get("name"): job for job in user.read("planned/workflow.yml")["jobs"]}
    assert jobs["bb_ready"]["profiles"] == {"selector": {"execution.site": "cori"}}
    programs = user.read("planned/transformations.yml")["transformations"]
    (ready,) = (p["sites"] for p in programs if p["name"] == "bb_ready")
    on_cori = {"name": "cori", "pfn": "/bin/true", "type": "installed"}
    assert ready == [{**on_cori, "arch": "x86_64", "os.type": "linux"}]
