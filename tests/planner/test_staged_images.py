"""An image that nodes do not have is staged once, and started by its path."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.planner.container_user import ContainerUser
from tests.support.pegasus_site import GIVEN
from tests.support.web_server import serving, whole

LOCAL = {"image.site": "local"}


class ImageUser(ContainerUser):
    """Images lie in a folder of the user."""

    def file(self, name: str, text: str = "v1") -> str:
        path = self.root / "images" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)

    @property
    def staged(self) -> list[dict[str, Any]]:
        """The transfers that bring an image, of all job lists."""
        lists = self.submit.glob("0*/*/stage_in*.in")
        entries = [entry for name in lists for entry in json.loads(name.read_text())]
        return [entry for entry in entries if entry["lfn"].startswith("box.")]


@pytest.fixture
def user(tmp_path: Path) -> ImageUser:
    return ImageUser(tmp_path)


@pytest.mark.parametrize(
    ("mode", "configuration"), [("persistent", "sharedfs"), ("transient", "condorio")]
)
def test_an_image_file_of_the_submit_host_comes_once_for_all_tasks(
    user: ImageUser, mode: str, configuration: str
) -> None:
    user.contain(image=user.file("tool-1.2.sif"), **LOCAL)
    configured = f"-Dpegasus.data.configuration={configuration}"
    user.plan(mode, "--bb-planner", "builtin", configured)
    assert user.run() == "hello\n"
    (entry,) = user.staged
    assert "executable" not in entry
    assert [text for *_, text in user.calls] == ["v1", "v1"]
    (path,) = {path for _, path, _ in user.calls}  # in no folder of a single job
    assert Path(path).name == "box.sif"
    assert path.startswith(str(user.work))
    assert not Path(path).exists()  # cleaned up after its last task
    assert (user.root / "images" / "tool-1.2.sif").exists()


def test_an_image_of_a_web_server_comes_once_and_is_checked(user: ImageUser) -> None:
    digest = hashlib.sha256(b"v2").hexdigest()
    with serving() as server:
        server.answers = [whole(b"v2")]
        said = {"image.site": "web", "checksum": {"sha256": digest}}
        user.contain(image=server.url("/images/a.sif?version=2"), **said)
        user.plan("persistent", "--bb-planner", "builtin")
        assert user.run() == "hello\n"
        assert len(server.seen) == 1
    assert [text for *_, text in user.calls] == ["v2", "v2"]
    assert user.staged[0]["checksum"] == f"sha256:{digest}"
    noted = (user.submit / "bb" / "fetched.jsonl").read_text()
    assert json.loads(noted) == {"lfn": "box.sif", "size": 2}


def test_docker_loads_an_archive_and_runs_the_image_in_it(user: ImageUser) -> None:
    user.contain(type="docker", image=user.file("a.tar.gz", "v2"), **LOCAL)
    user.plan("persistent", "--bb-planner", "builtin")
    assert user.run() == "hello\n"
    assert [rest for _, *rest in user.calls] == [["v2", "v2"]] * 2
    assert [entry["lfn"] for entry in user.staged] == ["box.tar.gz"]


def test_an_image_that_nodes_have_stays_where_it_is(user: ImageUser) -> None:
    image = user.file("box.sif")
    user.contain(image=image, **{"image.site": "cori"})
    user.plan("persistent", "--bb-planner", "builtin")
    assert user.staged == []
    assert user.run() == "hello\n"
    assert [rest for _, *rest in user.calls] == [[image, "v1"]] * 2


@pytest.mark.parametrize("kind", ["installed", "stageable"])
def test_a_program_in_an_image_is_one_of_every_site(user: ImageUser, kind: str) -> None:
    program = {"name": "insidecontainer", "type": kind}
    user.contain(program, image=user.file("box.sif"))
    user.plan("persistent", "--bb-planner", "builtin")
    assert user.run() == "hello\n"
    assert len(user.calls) == 2


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize(
    ("image", "said", "words"),
    [
        ("/usr/no-box.sif", {"image.site": "local"}, "images not on this machine"),
        ("https://far/a.sif", {"name": "a box"}, "which must be that of a file"),
        ("https://far/a.sif", {"metadata": {"size": "big"}}, "its size"),
        ("https://far/a.sif", {"checksum": {"md5": "1"}}, "of the kind sha256"),
        ("https://far/a.sif", {"type": "shifter"}, "does not find it by that name"),
    ],
)
def test_an_image_that_cannot_come_is_refused(
    user: ImageUser, command: str, image: str, said: dict[str, Any], words: str
) -> None:
    user.contain({"container": said.get("name", "box")}, image=image, **said)
    mode = ("--bb-planner", "builtin", "--bb-mode", "persistent")
    done = user.bb(command, *GIVEN, *mode, "workflow.yml")
    assert done.returncode != 0
    assert words in " ".join((done.stdout + done.stderr).split())


def test_an_image_may_not_take_the_name_of_a_file(user: ImageUser) -> None:
    user.contain(image=user.file("a.sif"), **LOCAL)
    with user.edited("workflow.yml") as data:
        data["jobs"][1]["uses"].append({"lfn": "box.sif", "type": "output"})
    said = user.refused("persistent", "--bb-planner", "builtin")
    assert "the image of cat1 is staged into scratch under a name" in said
    assert "rename the file or the container" in said
