"""A task with a container runs inside of it, whichever planner and mode; or no plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.planner.container_user import IMAGE, ContainerUser
from tests.support.real_pegasus import CONDOR, HOME, MARKS, STUB

REAL = pytest.param("pegasus", marks=MARKS)


@pytest.fixture
def user(tmp_path: Path) -> ContainerUser:
    user = ContainerUser(tmp_path, str(HOME.bin.parent) if HOME else "")
    for name in CONDOR if HOME else ():
        user.program("programs", name, STUB)
    return user


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
    user: ContainerUser, planner: str, mode: str, kind: str
) -> None:
    user.contain({"type": kind})
    user.plan(mode, "--bb-planner", planner)
    assert user.run() == "hello\n"
    calls = [argv for argv, *_ in user.calls]
    tasks = [argv[argv.index(IMAGE) + 2 :] for argv in calls]
    assert [[Path(word).name for word in task] for task in tasks] == [
        ["in.txt", "mid.txt"],
        ["mid.txt", "out.txt"],
    ]
    for argv in calls:
        folder = argv[argv.index("--pwd") + 1]
        assert folder.startswith(f"{user.work}/")
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
    user: ContainerUser, key: str, value: Any, message: str
) -> None:
    user.contain(**{key: value})
    done = user.try_plan("persistent", "--bb-planner", "builtin")
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
    user: ContainerUser, profiles: dict[str, Any], words: str
) -> None:
    with user.edited("workflow.yml") as data:
        data["jobs"][0]["profiles"] = profiles
    user.contain()
    assert words in user.refused("persistent", "--bb-planner", "builtin")
