"""What a run that is not done keeps, and a terminal that is closed."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.core.files import write_json
from pegasus_bb.model.reservation import Reservation
from pegasus_bb.run.engine.failure_messages import leftover_messages
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.bbdir import BBDir

from .conftest import Folder, children_named

NOTED = Reservation("pbbwords", "directory", "uuid-1", requested_at=17.5)


def ready(bb: BBDir, requested_at: float) -> None:
    write_json(bb.file("ready.json"), {"requested_at": requested_at})


@pytest.fixture
def bb(tmp_path: Path) -> BBDir:
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb" / "request.json").write_text("{}")
    return BBDir(str(tmp_path / "bb"))


def test_a_run_that_is_not_done_says_what_it_keeps(bb: BBDir, tmp_path: Path) -> None:
    place = SubmitDir(tmp_path, tmp_path / "w.dag")
    assert leftover_messages(place) == []
    bb.note_reservation(NOTED._replace(size=3 << 30))
    assert leftover_messages(place) == [
        "asked for:   reservation pbbwords (3.0 GiB, directory), which no job has had",
        "to drop it:  pegasus-bb release pbbwords",
    ]
    ready(bb, requested_at=17.5)
    assert leftover_messages(place) == [
        "kept:        reservation pbbwords (3.0 GiB, directory) with its data, "
        "until it is given back",
        "to drop it:  pegasus-bb release pbbwords --discard",
    ]
    for over in ({"released_at": 20.0}, {"failure": "no such project"}):
        bb.note_reservation(NOTED._replace(**over))
        assert leftover_messages(place) == []


def on_terminal(folder: Folder) -> tuple[subprocess.Popen[bytes], int]:
    folder.write()
    hand, terminal = pty.openpty()
    engine = subprocess.Popen(
        [sys.executable, "-m", "pegasus_bb", "run", str(folder.path)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    return engine, hand


def test_a_closed_terminal_stops_it(folder: Folder) -> None:
    folder.job("a", "until=never", "ready=up")
    engine, hand = on_terminal(folder)
    folder.wait_for("up")
    os.close(hand)
    engine.send_signal(signal.SIGHUP)
    assert engine.wait(timeout=120) == 130
    assert folder.rescues() == ["w.dag.rescue001"]
    assert children_named(f"_PEGASUS_BB_NODE={folder.path}#") == []
