"""A node keeps the code of a run in a folder of the user's own, and trusts no other."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pegasus_bb.runtime.staging import helper
from tests.support.as_root import as_root
from tests.support.node import OWN, Node


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """Where one program has started before."""
    node = Node(tmp_path)
    assert node.runs()
    assert node.kept == []  # it may have been alone in a /tmp of its own
    return node


def test_what_a_plan_adds_for_running_are_some_files(node: Node) -> None:
    assert sum(path.is_file() for path in node.bb.rglob("*")) <= 13


def test_starts_at_once_leave_one_copy(tmp_path: Path) -> None:
    node = Node(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: node.runs(), range(8)))
    assert all(done) and node.runs()
    assert len(node.kept) == 1
    assert [p for p in (node.local / OWN).iterdir() if "part" in p.name] == []


@pytest.mark.parametrize(
    "trap",
    [
        pytest.param("another user's", marks=as_root),
        "open to others",
        "a link",
    ],
)
def test_a_folder_that_is_not_ours_alone_is_not_used(node: Node, trap: str) -> None:
    """An attacker who makes the name first gets nothing run."""
    assert node.runs()
    ours = node.local / OWN
    bad = b"raise SystemExit('attacked')"
    for file in node.kept:
        file.write_bytes(bad + file.read_bytes())
    if trap == "another user's":
        os.chown(ours, 12345, -1)
    elif trap == "open to others":
        ours.chmod(0o770)
    else:
        ours.rename(node.local / "elsewhere")
        ours.symlink_to(node.local / "elsewhere")
    assert node.runs() and node.runs()
    assert len(list((node.other / OWN).glob("*.cpython-*"))) == 1


def test_a_damaged_copy_is_made_again_or_named(node: Node) -> None:
    assert node.runs()
    (file,) = node.kept
    whole = file.read_bytes()
    file.write_bytes(b"\0" * len(whole))
    assert node.runs()
    assert file.read_bytes() == whole
    file.write_bytes(whole[: len(whole) // 2])
    done = node.run()
    assert done.returncode == 0 or "is damaged; remove it" in done.stderr


def test_without_a_place_it_runs_from_the_archive(node: Node) -> None:
    (node.local / OWN).rmdir()
    for place in (node.local, node.other):
        (place / OWN).write_text("a file is in the way")
    assert node.runs() and node.runs()


def test_off_keeps_nothing(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.install(is_kept=False)
    assert node.runs() and node.runs()
    assert not (node.local / OWN).exists()


@pytest.mark.skipif(helper.load(digest=False) is None, reason="there is no helper")
def test_the_compiled_helper_is_there_at_each_start(tmp_path: Path) -> None:
    """From the archive, when the copy is made, and from the copy."""
    node = Node(tmp_path)
    program = node.bb / "bin" / "transfer"
    text = program.read_text().replace(
        "status = main()",
        "status = 0\n"
        "from pegasus_bb.runtime.staging import helper\n"
        "print(helper.load(digest=False) is not None, helper.__file__)\n",
    )
    program.write_text(text)
    _, environ = node.command()
    for start in (1, 2, 3):
        done = subprocess.run([program], env=environ, capture_output=True, text=True)
        assert done.stdout.startswith("True "), done.stderr
        assert ("runtime.zip" in done.stdout) == (start == 1)
    assert [path for path in node.other.iterdir() if path.suffix == ".so"] == []


def test_two_versions_share_a_node_and_old_ones_go(node: Node) -> None:
    assert node.runs()
    (first,) = node.kept
    os.utime(first, (1, 1))
    digest = first.name.partition(".")[0]
    first.rename(first.with_name("0" * 64 + ".cpython-311-x"))
    assert node.runs()
    assert [path.name.partition(".")[0] for path in node.kept] == [digest]
