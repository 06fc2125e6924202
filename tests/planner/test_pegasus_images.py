"""An image that nodes do not have is an input of its jobs for a real pegasus-plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.planner.pegasus_user import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    image = tmp_path / "tool.sif"
    image.write_text("v1")
    box = {"name": "box", "type": "singularity", "image": str(image)}
    with user.edited("transformations.yml") as data:
        data["containers"] = [{**box, "image.site": "local"}]
        (place,) = data["transformations"][0]["sites"]
        place.update(name="insidecontainer", container="box")
    return user


def uses_of(job: dict[str, Any]) -> list[tuple[str, str]]:
    return [(use["lfn"], use["type"]) for use in job["uses"]]


def test_it_comes_once_as_an_input_of_its_jobs(user: User) -> None:
    user.plan("persistent")
    workflow = user.read("planned/workflow.yml")
    tasks = [job for job in workflow["jobs"] if job["name"] == "cat1"]
    assert len(tasks) == 2
    assert all(uses_of(job).count(("box.sif", "input")) == 1 for job in tasks)
    others = [job for job in workflow["jobs"] if job not in tasks]
    assert not any("box.sif" in str(job) for job in others)
    replicas = user.read("planned/replicas.yml")["replicas"]
    (entry,) = [each for each in replicas if each["lfn"] == "box.sif"]
    (pfn,) = entry["pfns"]
    assert pfn["pfn"].endswith(f"{user.root}/tool.sif")
    (place,) = user.read("planned/transformations.yml")["transformations"][0]["sites"]
    assert (place["name"], "container" in place) == ("cori", False)
    scratch = user.read("plan.json")["scratch"]
    started = user.read("containers.json")["transformations"]["cat1"]
    assert started["image"] == f"{scratch}/box.sif"


def test_the_jobs_of_a_sub_workflow_get_no_image(user: User) -> None:
    inner = {"type": "pegasusWorkflow", "file": "inner.yml", "id": "SUB", "uses": []}
    with user.edited("workflow.yml") as data:
        data["jobs"].append({**inner, "arguments": ["--output-sites", "local"]})
    said = user.refused("persistent")
    assert "nothing brings them the image of its container" in said
