"""A checksum of the replica catalog travels to the node that brings the file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.pegasus_site import UserFolder
from tests.support.web_server import serving, whole

HELLO = hashlib.sha256(b"hello\n").hexdigest()


@pytest.fixture
def user(tmp_path: Path) -> UserFolder:
    user = UserFolder(tmp_path)
    with user.edited("sites.yml") as sites:
        del sites["sites"][1]["profiles"]["env"]  # no Pegasus
    return user


def declare(user: UserFolder, checksum: object, **more: Any) -> None:
    with user.edited("replicas.yml") as data:
        data["replicas"][0].update(checksum=checksum, **more)


BUILT_IN = ("--bb-planner", "builtin")


@pytest.mark.parametrize("mode", ["off", "persistent"])
def test_a_changed_input_ends_the_run_before_any_task(
    user: UserFolder, mode: str
) -> None:
    declare(user, {"sha256": HELLO.upper()})
    (user.work / "in.txt").write_text("HELLO\n")
    user.plan(mode, *BUILT_IN)
    done = user.bb("run", str(user.submit))
    assert done.returncode != 0
    texts = [path.read_text() for path in user.submit.glob("0*/*/stage_in*.out*")]
    assert any(f"declares sha256:{HELLO}" in text for text in texts), done.stdout
    (user.work / "in.txt").write_text("hello\n")
    assert user.run() == "hello\n"


@pytest.mark.parametrize(
    ("checking", "links", "is_checked"),
    [
        ("full", "true", True),
        ("none", "false", False),
        ("nosymlink", "true", False),
        ("nosymlink", "false", True),
    ],
)
def test_integrity_checking_says_what_is_checked(
    user: UserFolder, checking: str, links: str, is_checked: bool
) -> None:
    here = [{"site": "cori", "pfn": str(user.work / "in.txt")}]
    declare(user, {"sha256": HELLO}, pfns=here)
    properties = (
        f"-Dpegasus.integrity.checking={checking}",
        f"-Dpegasus.transfer.links={links}",
    )
    user.plan("off", *BUILT_IN, *properties)
    lists = user.submit.glob("0*/*/stage_in*.in")
    entries = [entry for path in lists for entry in json.loads(path.read_text())]
    assert [entry.get("checksum", "") for entry in entries] == [
        f"sha256:{HELLO}" if is_checked else ""
    ]


def test_a_later_planning_knows_the_size_of_what_came(user: UserFolder) -> None:
    with serving() as server:
        server.answers = [whole(b"hello\n")]
        declare(user, None, pfns=[{"site": "web", "pfn": server.url()}])
        user.plan("persistent", *BUILT_IN)
        user.run()
    words = ("--sites", "cori", "--output-sites", "local", "--bb-mode", "transient")
    auto = ("--bb-capacity", "auto", "--bb-history", "submit/r", "--json")
    done = user.bb("explain", *BUILT_IN, *words, *auto, "workflow.yml")
    assert done.returncode == 0, done.stderr
    files = {file["lfn"]: file for file in json.loads(done.stdout)["files"]}
    assert files["in.txt"]["size"] == 6
