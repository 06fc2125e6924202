"""A site's service has several users; each sees, and touches, only what is his own."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stager.lives import CAPABLE, LIVES, before, user
from tests.support.as_root import as_root
from tests.support.stager import SiteDaemon, open_to_all

pytestmark = as_root
ANN = 61001
BOB = 61002
_ASK = """
import json, os, sys
from pegasus_bb.runtime.stager_client.client import Client
from pegasus_bb.runtime.stager_client.protocol import Refused
os.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))
try:
    with Client(sys.argv[2]) as client:
        found = client.ask(sys.argv[3], **json.loads(sys.argv[4]))
        if "first" in found and len(sys.argv) == 5:
            found = client.ask("wait", tasks=[found["first"]])
    print(json.dumps(found))
except Refused as refused:
    print(json.dumps({"refused": refused.code}))
except Exception as error:
    print(json.dumps({"error": str(error)}))
"""


class Site(SiteDaemon):
    """With two dataspaces, of which each user has a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, lustre=folder / "lustre", bb=folder / "bb")
        self.program = [sys.executable, "-m", "pegasus_bb", "stager", "serve"]
        open_to_all(folder)
        for space in ("lustre", "bb"):
            for uid in (ANN, BOB):
                path = folder / space / str(uid)
                path.mkdir(parents=True)
                os.chown(path, uid, uid)
                path.chmod(0o700)

    def ask(self, uid: int, do: str, socket: str = "user", **more: Any) -> Any:
        """The answer; that of a submission is how its first task has ended."""
        return self._said(_ASK, str(uid), socket, do, json.dumps(more))

    def submit(self, uid: int, *tasks: dict[str, Any]) -> list[int]:
        words = json.dumps({"tasks": tasks})
        found = self._said(_ASK, str(uid), "user", "submit", words, "and go")
        return list(range(found["first"], found["first"] + found["count"]))

    def end_of(self, uid: int, task: dict[str, Any]) -> tuple[str, str]:
        """How a task of the user ends."""
        [ended] = self.ask(uid, "submit", tasks=[task])["tasks"]
        return ended["state"], ended["message"]

    def _said(self, code: str, uid: str, socket: str, *words: str) -> Any:
        argv = [sys.executable, "-c", code, uid, str(self.sockets / socket), *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)


@pytest.fixture
def site(tmp_path: Path, life: str, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A parameter is what the declaration of each dataspace says as well."""
    site = Site(tmp_path)
    for space in site.config["dataspaces"].values():
        space.update(getattr(request, "param", {}))
    site.before = before(life)
    site.serve()
    yield site
    site.end()


def copied(uid: int, name: str) -> dict[str, str]:
    places = {"source": f"lustre://{uid}/{name}", "dest": f"bb://{uid}/{name}"}
    return {"kind": "copy", **places}


@pytest.mark.parametrize("life", LIVES)
def test_files_are_copied_as_their_user(site: Site, tmp_path: Path) -> None:
    source = tmp_path / f"lustre/{ANN}/data"
    source.write_text("ann's")
    os.chown(source, ANN, ANN)
    source.chmod(0o600)
    [ended] = site.ask(ANN, "submit", tasks=[copied(ANN, "data")])["tasks"]
    assert (ended["state"], ended["uid"]) == ("done", ANN)
    found = (tmp_path / f"bb/{ANN}/data").stat()
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (ANN, 0o600)


def test_another_users_task_cannot_be_told_from_none(site: Site) -> None:
    site.ask(ANN, "submit", tasks=[copied(ANN, "absent")])
    for do in ("status", "cancel", "wait"):
        other = site.ask(BOB, do, tasks=[1])
        assert other == site.ask(BOB, do, tasks=[999]) == {"refused": "no-such-task"}
    assert site.ask(BOB, "status", tasks=None) == {"tasks": []}
    assert site.ask(BOB, "status", tasks=None, everyone=True) == {
        "refused": "not-yours"
    }


@pytest.mark.parametrize("life", LIVES)
def test_control_is_for_root_and_the_services_own_user(site: Site, life: str) -> None:
    own = user() if life == CAPABLE else 0
    found = (site.sockets / "control").stat()
    assert (found.st_uid, found.st_mode & 0o777) == (own, 0o600)
    for uid in (0, own):
        assert site.ask(uid, "pause", socket="control") == {}
    refused = site.ask(ANN, "shutdown", socket="control")["error"]
    assert "only root and SlurmUser may use it" in refused
    assert site.ask(ANN, "shutdown") == {"refused": "bad-request"}
    assert "version" in site.ask(ANN, "ping")


def test_a_tree_with_folders_that_nobody_may_write_to_moves(
    site: Site, tmp_path: Path
) -> None:
    """As it can be copied."""
    source = tmp_path / f"lustre/{ANN}/tree"
    there = tmp_path / f"bb/{ANN}/tree"
    for folder in (source / "in/er", there / "in"):
        folder.mkdir(parents=True)
    (source / "in/file").write_text("some")
    (there / "in/other").write_text("so that a rename cannot move it")
    for path in (source, there, *source.rglob("*"), *there.rglob("*")):
        os.chown(path, ANN, ANN)
    for folder in (source, source / "in", source / "in/er"):
        folder.chmod(0o500)
    moved = {**copied(ANN, "tree"), "kind": "move"}
    assert site.end_of(ANN, moved) == ("done", "")
    assert not source.exists() and (there / "in/er").stat().st_mode & 0o777 == 0o500


def test_no_user_moves_or_removes_what_is_another_users(
    site: Site, tmp_path: Path
) -> None:
    kept = tmp_path / f"lustre/{ANN}/kept"
    kept.write_text("ann's")
    source = {"source": f"lustre://{ANN}/kept"}
    for task in (
        {"kind": "remove", **source},
        {"kind": "move", **source, "dest": f"bb://{BOB}/mine"},
        {"kind": "copy", **source, "dest": f"bb://{ANN}/planted"},
    ):
        assert site.end_of(BOB, task)[0] == "failed"
    assert kept.read_text() == "ann's"
    assert list((tmp_path / f"bb/{ANN}").iterdir()) == []


def test_a_folder_on_the_way_needs_to_be_searched_only(
    site: Site, tmp_path: Path
) -> None:
    """A dataspace such as /home, and a folder in it, often have the mode 0711. In one
    where Bob may write and not look, nothing is made: it could not be synced."""
    way = tmp_path / "lustre/way"
    (way / "in").mkdir(parents=True)
    (way / "in/f").write_text("for all")
    writable = tmp_path / "bb/writable"
    writable.mkdir()
    for folder, mode in ((way.parent, 0o711), (way, 0o711), (writable, 0o733)):
        folder.chmod(mode)
    source = {"kind": "copy", "source": "lustre://way/in/f"}
    for dest, message in (
        (f"bb://{BOB}/f", ""),
        ("bb://writable/new/f", f"{writable}: Permission denied"),
    ):
        assert site.end_of(BOB, {**source, "dest": dest})[1] == message
    assert (tmp_path / f"bb/{BOB}/f").read_text() == "for all"
    assert list(writable.iterdir()) == []
