"""A task with a container runs inside of it, whichever planner and mode; or no plan."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.planner.pegasus import find_home
from tests.planner.pegasus_site import write_site
from tests.planner.real_pegasus import CONDOR, STUB

HOME = find_home(os.environ)
IMAGE = "docker://library/busybox:1"
REAL = pytest.param(
    "pegasus",
    marks=[
        pytest.mark.real_pegasus,
        pytest.mark.skipif(HOME is None, reason="no PEGASUS_HOME and no pegasus-plan"),
    ],
)
# Notes its arguments and runs what follows the image.
FAKE = f"""#!{sys.executable}
import json, os, sys
with open({{log!r}}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
task = sys.argv[sys.argv.index({IMAGE!r}) + 1 :]
os.execv(task[0], task)
"""


class WorkflowRunner:
    """The chain of ``write_site`` with a container for its program."""

    def __init__(self, root: Path) -> None:
        self.root, self.work, self.log = root, root / "work", root / "calls"
        programs = root / "programs"
        programs.mkdir()
        stubs = dict.fromkeys(CONDOR, STUB) if HOME else {}
        for name, text in {
            **stubs,
            "apptainer": FAKE.format(log=str(self.log)),
        }.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        home = str(HOME.bin.parent) if HOME else "/opt/pegasus"
        write_site(self.work, home)
        path = f"{programs}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "HOME": str(root)}
        self.environment["PEGASUS_BB_LEDGER"] = str(root / "ledger.jsonl")
        self.change("sites.yml", lambda data: self._with_path(data, path))
        self.container = {"name": "box", "type": "singularity", "image": IMAGE}
        self.program: dict[str, Any] = {"container": "box"}

    @staticmethod
    def _with_path(data: Any, path: str) -> None:
        data["sites"][1]["profiles"]["env"]["PATH"] = path

    def change(self, file: str, how: Any) -> None:
        data = json.loads((self.work / file).read_text())
        how(data)
        (self.work / file).write_text(json.dumps(data))

    def _write(self, data: Any) -> None:
        data["containers"] = [self.container]
        data["transformations"][0]["sites"][0].update(self.program)

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pegasus_bb", *words],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def plan(
        self, command: str = "plan", planner: str = "builtin", mode: str = "persistent"
    ) -> subprocess.CompletedProcess[str]:
        self.change("transformations.yml", self._write)
        options = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
        options += ("--relative-submit-dir", "r", "--bb-planner", planner)
        return self.call(command, *options, "--bb-mode", mode, "workflow.yml")


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


@pytest.mark.parametrize(
    ("planner", "mode"),
    [
        ("builtin", "off"),
        ("builtin", "persistent"),
        ("builtin", "transient"),
        pytest.param("pegasus", "persistent", marks=REAL.marks),
        pytest.param("pegasus", "transient", marks=REAL.marks),
    ],
)
@pytest.mark.parametrize("kind", ["installed", "stageable"])
def test_every_task_runs_in_its_container(
    runner: WorkflowRunner, planner: str, mode: str, kind: str
) -> None:
    runner.program["type"] = kind
    done = runner.plan(planner=planner, mode=mode)
    assert done.returncode == 0, done.stderr
    ran = runner.call("run", str(runner.work / "submit" / "r"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (runner.work / "out" / "out.txt").read_text() == "hello\n"
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


@pytest.mark.parametrize("planner", ["builtin", REAL])
@pytest.mark.parametrize("command", ["plan", "check"])
def test_an_image_that_no_job_can_start_is_refused(
    runner: WorkflowRunner, planner: str, command: str
) -> None:
    runner.container["image"] = "https://example.org/box.sif"
    done = runner.plan(command, planner)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "transformations.yml" in said
    assert "nothing fetches images" in said
    assert "docker://NAME" in said
    assert not (runner.work / "submit" / "r").exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("type", "podman", "type: singularity, docker, shifter"),
        ("name", "other", "names a container that the catalog does not have"),
        ("image", "file:///images/box.sif", ""),
        ("image", "docker://a b", "nothing fetches images"),
        ("image", "box", "nothing fetches images"),
        ("image.site", "summit", ""),
        ("mounts", ["data"], "SOURCE:TARGET"),
        ("mounts", ["/a:/b,/c:/d"], "SOURCE:TARGET"),
        ("profiles", {"env": {"A B": "1"}}, "no name of an environment variable"),
        ("profiles", {"pegasus": {"container.arguments": "'"}}, "close the quote"),
    ],
)
def test_what_a_container_says_is_checked(
    runner: WorkflowRunner, key: str, value: Any, words: str
) -> None:
    runner.container[key] = value
    done = runner.plan()
    assert (done.returncode == 2) == bool(words), done.stderr
    assert words in done.stderr


def test_a_file_of_another_site_is_refused(runner: WorkflowRunner) -> None:
    runner.container |= {"image": "/images/box.sif", "image.site": "summit"}
    done = runner.plan()
    assert done.returncode == 2
    assert "copy the image to a folder that the nodes of cori see" in done.stderr


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
    runner.change(
        "workflow.yml", lambda data: data["jobs"][0].update(profiles=profiles)
    )
    done = runner.plan()
    assert done.returncode == 2
    assert words in done.stderr
