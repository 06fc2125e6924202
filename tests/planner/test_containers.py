"""A task with a container runs inside of it, whichever planner and mode; or no plan."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.pegasus_site import GIVEN, UserFolder
from tests.support.real_pegasus import CONDOR, HOME, MARKS, STUB
from tests.support.shebang import shebang

IMAGE = "docker://library/busybox:1"
REAL = pytest.param("pegasus", marks=MARKS)
# Notes its arguments and runs what follows the image.
FAKE = f"""{shebang()}
import json, os, sys
with open({{log!r}}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
task = sys.argv[sys.argv.index({IMAGE!r}) + 1 :]
os.execv(task[0], task)
"""


class WorkflowRunner(UserFolder):
    """The chain of ``write_site`` with a container for its program."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, str(HOME.bin.parent) if HOME else "/opt/pegasus")
        self.log = root / "calls"
        for name in CONDOR if HOME else ():
            self.program("programs", name, STUB)
        self.program("programs", "apptainer", FAKE.format(log=str(self.log)))
        path = f"{root / 'programs'}:{os.environ['PATH']}"
        self.environment["PATH"] = path
        with self.edited("sites.yml") as sites:
            sites["sites"][1]["profiles"]["env"]["PATH"] = path
        self.container = {"name": "box", "type": "singularity", "image": IMAGE}
        self.kept: dict[str, Any] = {"container": "box"}

    def contain(
        self, planner: str = "builtin", mode: str = "persistent", do: str = "plan"
    ) -> Any:
        """Plan, or check, with the container in the catalog."""
        with self.edited("transformations.yml") as data:
            data["containers"] = [self.container]
            data["transformations"][0]["sites"][0].update(self.kept)
        said = ("--bb-planner", planner, "--bb-mode", mode)
        return self.bb(do, *GIVEN, *said, "workflow.yml")


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


@pytest.mark.parametrize(
    ("planner", "mode", "kind"),
    [
        ("builtin", "off", "stageable"),
        ("builtin", "persistent", "installed"),
        ("builtin", "transient", "stageable"),
        pytest.param("pegasus", "persistent", "stageable", marks=REAL.marks),
        pytest.param("pegasus", "transient", "installed", marks=REAL.marks),
    ],
)
def test_every_task_runs_in_its_container(
    runner: WorkflowRunner, planner: str, mode: str, kind: str
) -> None:
    runner.kept["type"] = kind
    done = runner.contain(planner, mode)
    assert done.returncode == 0, done.stderr
    assert runner.run() == "hello\n"
    calls = [json.loads(line) for line in runner.log.read_text().splitlines()]
    tasks = [argv[argv.index(IMAGE) + 2 :] for argv in calls]
    assert [[Path(word).name for word in task] for task in tasks] == [
        ["in.txt", "mid.txt"],
        ["mid.txt", "out.txt"],
    ]
    for argv in calls:
        folder = argv[argv.index("--pwd") + 1]
        assert folder.startswith(f"{runner.work}/")
        assert f"{folder}:{folder}" in argv


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("type", "podman", "type: singularity, docker, shifter"),
        ("name", "other", "names a container that the catalog does not have"),
        ("image", "file:///images/box.sif", ""),
        ("image", "docker://a b", "it is no file to stage"),
        ("image", "box", "it is no file to stage"),
        ("image.site", "summit", ""),
        ("mounts", ["data"], "SOURCE:TARGET"),
        ("mounts", ["/a:/b,/c:/d"], "SOURCE:TARGET"),
        ("profiles", {"env": {"A B": "1"}}, "no name of an environment variable"),
        ("profiles", {"pegasus": {"container.arguments": "'"}}, "close the quote"),
    ],
)
def test_what_a_container_says_is_checked(
    runner: WorkflowRunner, key: str, value: Any, message: str
) -> None:
    runner.container[key] = value
    done = runner.contain()
    assert (done.returncode == 2) == bool(message), done.stderr
    assert message in done.stderr


@pytest.mark.parametrize(
    ("profiles", "words"),
    [
        ({"pegasus": {"container.arguments": "--nv"}}, "arguments of its own"),
        ({"selector": {"execution.site": "local"}}, "runs on site local"),
    ],
)
def test_a_job_that_the_launcher_cannot_serve_is_refused(
    runner: WorkflowRunner, profiles: dict[str, Any], words: str
) -> None:
    with runner.edited("workflow.yml") as data:
        data["jobs"][0]["profiles"] = profiles
    done = runner.contain()
    assert done.returncode == 2
    assert words in done.stderr
