"""What jobs left on nodes: listed whatever a user does, and several nodes have it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from pegasus_bb.stager.nodes import node_attendant
from pegasus_bb.stager.nodes.contents import Found, conflicts, divide
from pegasus_bb.stager.nodes.node_attendant import Lists

OUT = ("node://out", "/lus/out")


def test_a_file_and_a_folder_of_one_name_are_a_conflict() -> None:
    found: Found = {"n1": {"node://out": {"": "1"}}, "n2": {"node://out": {"a": "2"}}}
    [said] = conflicts(found, [OUT])
    assert "is a file on n1 and a folder elsewhere" in said


def test_a_result_that_one_node_has_is_copied_from_there() -> None:
    found: Found = {"n1": {}, "n2": {"node://out": {"": "1"}}}
    assert divide(found, [OUT]) == {"n1": [], "n2": [OUT]}


def test_a_result_that_no_node_has_is_missed_once() -> None:
    found: Found = {"n1": {}, "n2": {}}
    assert divide(found, [OUT]) == {"n1": [OUT], "n2": []}


ANN = 61001
BOB = 61002
PROGRAM = """
import os, signal, sys
if sys.argv[1] == "61001":
    open(os.path.join(sys.argv[2], str(os.getpid())), "w").close()
    os.kill(os.getpid(), signal.SIGSTOP)
print("{}")
"""


@pytest.fixture(autouse=True)
def _stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lists of ANN stop."""
    python = [sys.executable, "-c", PROGRAM]
    monkeypatch.setattr(
        node_attendant, "program_of", lambda _, *words: [*python, *words]
    )


def test_stopped_lists_of_a_user_keep_no_other_waiting(tmp_path: Path) -> None:
    async def story() -> None:
        all_lists = Lists(str(tmp_path))
        of_ann = [asyncio.ensure_future(all_lists.of(ANN, [])) for _ in range(50)]
        await asyncio.sleep(0)
        assert await asyncio.wait_for(all_lists.of(BOB, []), 20) == {}
        assert len(list(tmp_path.iterdir())) <= 1  # the others wait for their turn
        assert not any(each.done() for each in of_ann)

    asyncio.run(story())  # and they do not keep the service from ending
