"""What a start survives on a node: a /tmp that is of no use, SIGKILL, edited files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from pegasus_bb.core.errors import USAGE
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime import install, node_cache
from tests.support.node import OWN, Node

MAY_MOUNT = os.geteuid() == 0 and shutil.which("unshare") is not None
AS_ROOT = pytest.mark.skipif(not MAY_MOUNT, reason="only root can mount")
STARTS = 3  # the first makes the folder, the second keeps the code, the third uses it
# Mounts a tmpfs with these options, makes it what it is called, and starts there.
TMP = """\
mount -t tmpfs -o "$1" none "$2" || exit 99
[ "$3" = read-only ] && mount -o remount,ro "$2"
shift 3
for start in 1 2 3; do "$@" || exit; done
"""


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


@AS_ROOT
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("full", "size=8k"),
        ("without inodes", "nr_inodes=1"),
        ("read-only", "size=8m"),
        ("noexec", "size=8m,noexec"),
    ],
)
def test_a_tmp_that_is_of_no_use_costs_no_task(
    node: Node, kind: str, options: str
) -> None:
    tmp = node.local / "tmp"
    tmp.mkdir()
    words, environ = node.command()
    del environ["XDG_RUNTIME_DIR"], environ["TMPDIR"]
    mounts = ["unshare", "--mount", "--propagation", "private", "sh", "-c", TMP, "sh"]
    done = subprocess.run(
        [*mounts, options, str(tmp), kind, *words],
        env=environ,
        capture_output=True,
        text=True,
    )
    if done.returncode == 99:
        pytest.skip(f"no mount here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("- invocation: True") == STARTS
    assert done.stderr == ""


@pytest.mark.parametrize("call", ["mkdir", "fsync", "rename", "replace"])
def test_a_start_that_is_killed_while_it_keeps_the_code_leaves_the_next_whole(
    node: Node, call: str
) -> None:
    assert node.runs() and node.runs()
    (kept,) = node.kept
    digest = kept.name.partition(".")[0]
    remove(str(node.local / OWN))
    for _ in range(2):  # with what the first has left
        (node.local / OWN).mkdir(mode=0o700, exist_ok=True)
        pid = os.fork()
        if pid == 0:
            setattr(os, call, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
            archive = str(node.bb / install.ARCHIVE)
            node_cache.unpack(archive, digest, [str(kept.parent)], kept.name)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        assert not kept.exists()
    assert node.runs() and node.runs()
    assert node.kept == [kept]


@pytest.mark.parametrize("damage", ["removed", "empty", "truncated"])
def test_an_archive_that_is_no_more_is_told_in_a_sentence(
    node: Node, damage: str
) -> None:
    archive = node.bb / install.ARCHIVE
    data = archive.read_bytes()
    archive.unlink()
    if damage != "removed":
        archive.write_bytes(data[: len(data) // 2 if damage == "truncated" else 0])
    done = node.run()
    assert done.returncode == USAGE
    assert done.stderr == (
        f"record: {archive}: is not there or is damaged; plan again\n"
    )


def test_an_edited_archive_runs_nowhere_and_stops_no_node_that_has_the_code(
    tmp_path: Path,
) -> None:
    """Neither at the first start on a node, which keeps nothing yet."""
    node, later = Node(tmp_path / "one"), Node(tmp_path / "two")
    assert node.runs() and node.runs()
    for each in (node, later):
        archive = each.bb / install.ARCHIVE
        archive.write_bytes(archive.read_bytes().replace(b"invocation", b"INVOCATION"))
    assert node.runs()
    done = later.run()
    assert done.returncode == USAGE
    assert "runtime.zip: was changed since the plan was made; plan again" in done.stderr
    assert done.stdout == ""
