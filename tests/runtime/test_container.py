"""A task with a container runs inside of it, on the buffer, whatever records it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.core.errors import USAGE
from tests.support.shebang import shebang

PREFIX = "/bb/pbb4f1c2a9e"
IMAGE = "docker://busybox:1"
Site = Any  # tests/runtime/conftest.py

# In the place of a container's program: notes how it was called and runs the task.
_FAKE = """{shebang}
import json, os, sys
word, image, argv = {word!r}, {image!r}, sys.argv[1:]
task = argv[argv.index(image) + 1 :]
if "--entrypoint" in argv:
    task.insert(0, argv[argv.index("--entrypoint") + 1])
said = {{key: os.environ[key] for key in os.environ if "ENV_" in key}}
with open({log!r}, "a") as log:
    log.write(json.dumps([word, argv, said]) + "\\n")
os.execvp(task[0], task)
"""


class Nodes:
    def __init__(self, site: Site) -> None:
        self.site, self.path = site, site.root / "programs"
        self.log = site.root / "calls"
        self.path.mkdir()

    def install(self, word: str, image: str) -> None:
        text = _FAKE.format(
            shebang=shebang(), word=word, image=image, log=str(self.log)
        )
        program = self.path / word
        program.write_text(text)
        program.chmod(0o755)

    def plan(self, kind: str, image: str, **said: Any) -> None:
        container = {"type": kind, "image": image, "mounts": [], "arguments": []}
        container = {**container, "env": {}, **said}
        data = {"folders": [str(self.site.pfs)], "transformations": {"work": container}}
        (self.site.bb / "containers.json").write_text(json.dumps(data))

    def run(self, *task: str, name: str = "work", **environ: str) -> Any:
        return self.site.start(
            "launch",
            self.site.program("record"),
            "-n",
            name,
            "-w",
            f"{PREFIX}/run0001",
            *task,
            PATH=f"{self.path}:{os.environ['PATH']}",
            **environ,
        )

    def call(self) -> tuple[str, list[str], dict[str, str]]:
        (line,) = self.log.read_text().splitlines()
        word, argv, environ = json.loads(line)
        return word, argv, environ


@pytest.fixture
def nodes(site: Site) -> Nodes:
    return Nodes(site)


def test_apptainer_sees_the_buffer_and_the_pfs(nodes: Nodes) -> None:
    nodes.install("apptainer", IMAGE)
    nodes.plan(
        "singularity",
        IMAGE,
        mounts=["/etc:/host:ro"],
        arguments=["--nv"],
        env={"LANG": "C"},
    )
    done = nodes.run("sh", "-c", 'pwd; echo "$1"', "sh", f"{PREFIX}/run0001/in.txt")
    (record,) = yaml.safe_load(done.stdout)
    scratch = str(nodes.site.scratch)
    real = str(nodes.site.real)
    assert done.returncode == 0
    assert record["files"]["stdout"]["data"] == f"{scratch}\n{scratch}/in.txt\n"
    word, argv, environ = nodes.call()
    mounted = [argv[i + 1] for i, word in enumerate(argv) if word == "--bind"]
    assert word == "apptainer"
    assert argv[0] == "exec"
    assert mounted == [f"{p}:{p}" for p in (scratch, real, nodes.site.pfs)] + [
        "/etc:/host:ro"
    ]
    assert argv[argv.index("--pwd") + 1] == argv[argv.index("--home") + 1] == scratch
    assert argv[argv.index("--nv") + 1] == IMAGE
    assert environ == {"APPTAINERENV_LANG": "C", "SINGULARITYENV_LANG": "C"}


def test_an_archive_that_docker_cannot_load_starts_nothing(nodes: Nodes) -> None:
    (nodes.site.scratch / "box.tar").write_text("")
    docker = nodes.path / "docker"
    docker.write_text("#!/bin/sh\n[ $1 = load ] && echo 'no archive' >&2\nexit 1\n")
    docker.chmod(0o755)
    nodes.plan("docker", f"{PREFIX}/run0001/box.tar")
    done = nodes.run("touch", "made")
    assert done.returncode == USAGE
    assert b"box.tar ended with 1: no archive" in done.stderr
    assert not (nodes.site.scratch / "made").exists()


def test_docker_runs_as_the_user_with_the_environment_of_the_job(nodes: Nodes) -> None:
    nodes.install("docker", "busybox:1")
    nodes.plan("docker", "busybox:1", env={"LANG": "C"})
    assert nodes.run("sh", "-c", "exit 3", WORDS="two words").returncode == 3
    _, argv, _ = nodes.call()
    passed = [argv[i + 1] for i, word in enumerate(argv) if word == "--env"]
    scratch = str(nodes.site.scratch)
    assert {"WORDS", "PEGASUS_DAG_JOB_ID", "LANG=C", f"HOME={scratch}"} <= {*passed}
    assert not {"PATH", "HOME"} & {*passed}
    assert argv[argv.index("--user") + 1] == f"{os.getuid()}:{os.getgid()}"
    assert f"{scratch}:{scratch}" in argv
    assert argv[-5:] == ["--entrypoint", "sh", "busybox:1", "-c", "exit 3"]


def test_docker_has_the_temporary_files_of_a_tier_that_has_them(nodes: Nodes) -> None:
    nodes.install("docker", "busybox:1")
    nodes.plan("docker", "busybox:1")
    temp = str(nodes.site.root / "fast")
    own = {"TMPDIR": temp, "PEGASUS_BB_TEMP": temp}
    for more, expected in (({"TMPDIR": temp}, False), (own, True)):
        nodes.log.unlink(missing_ok=True)
        assert nodes.run("true", **more).returncode == 0
        _, argv, _ = nodes.call()
        assert ("TMPDIR" in argv) == expected


def test_shifter_has_image_volume_and_folder(nodes: Nodes) -> None:
    nodes.install("shifter", "--image=docker:busybox:1")
    nodes.plan("shifter", "docker:busybox:1", env={"LANG": "C"})
    nodes.run("true")
    _, argv, _ = nodes.call()
    scratch = nodes.site.scratch
    assert argv[0] == "--image=docker:busybox:1"
    assert argv[1].startswith(f"--volume={scratch}:{scratch};")
    assert argv[2:] == [f"--workdir={scratch}", "--env=LANG=C", "true"]


def test_kickstart_stays_outside_and_the_task_becomes_executable(
    nodes: Nodes, tmp_path: Path
) -> None:
    nodes.install("apptainer", IMAGE)
    nodes.plan("singularity", IMAGE)
    task = nodes.site.scratch / "task"
    task.write_text("#!/bin/sh\necho ran\n")
    kickstart = nodes.path / "pegasus-kickstart"
    kickstart.write_text('#!/bin/sh\necho "$@" >&2\nshift 2\nexec "$@"\n')
    kickstart.chmod(0o755)
    done = nodes.site.start(
        "launch",
        str(kickstart),
        "-n",
        "work",
        "-X",
        f"{PREFIX}/run0001/task",
        PATH=f"{nodes.path}:{os.environ['PATH']}",
    )
    assert b"ran\n" in done.stdout
    assert b" -X " not in done.stderr
    assert b"/count " in done.stderr  # counts what the container has read and written
    assert task.stat().st_mode & stat.S_IXUSR


def test_a_node_without_the_program_runs_nothing_outside(nodes: Nodes) -> None:
    nodes.plan("singularity", IMAGE)
    done = nodes.site.start(
        "launch",
        nodes.site.program("record"),
        "-n",
        "work",
        "touch",
        "made",
        PATH=str(nodes.path),
    )
    assert done.returncode == 127
    assert b"apptainer: cannot be started" in done.stderr
    assert not (nodes.site.root / "made").exists()


@pytest.mark.parametrize("missing", ["image", "folder"])
def test_what_cannot_be_mounted_is_named(nodes: Nodes, missing: str) -> None:
    nodes.install("apptainer", "/no/image.sif")
    nodes.plan("singularity", "/no/image.sif" if missing == "image" else IMAGE)
    odd = nodes.site.root / "a,b"
    odd.mkdir()
    said = {} if missing == "image" else {"TMPDIR": str(odd)}
    done = nodes.run("touch", "made", **said)
    assert done.returncode == USAGE
    assert (b"/no/image.sif" if missing == "image" else b"a,b") in done.stderr
    assert not (nodes.site.scratch / "made").exists()
