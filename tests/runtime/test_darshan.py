"""A Darshan runtime for a task: what its environment says, and when nothing changes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pegasus_bb.runtime.darshan_preload import with_darshan

HERE = {"PATH": "/bin"}


@pytest.fixture
def bb(tmp_path: Path) -> Path:
    """The bb folder of a run that names a library, which is there."""
    library = tmp_path / "libdarshan.so"
    library.touch()
    bb = tmp_path / "submit" / "bb"
    (bb / "bin").mkdir(parents=True)
    (bb / "darshan.json").write_text(json.dumps({"library": str(library)}))
    return bb


def test_a_task_preloads_it_and_logs_below_the_submit_directory(bb: Path) -> None:
    submit = bb.parent
    assert with_darshan(str(bb), "/bin/cat", HERE) == {
        "PATH": "/bin",
        "LD_PRELOAD": str(submit.parent / "libdarshan.so"),
        "DARSHAN_ENABLE_NONMPI": "1",
        "DARSHAN_LOGPATH": str(submit / "darshan"),
        "DARSHAN_CONFIG_PATH": str(bb / "darshan.conf"),
    }
    day = time.localtime()
    folder = submit / "darshan" / f"{day.tm_year}/{day.tm_mon}/{day.tm_mday}"
    assert folder.is_dir()  # Darshan makes none
    assert len(list((submit / "darshan").glob("*/*/*"))) == 2  # a run past midnight


def test_our_own_programs_containers_and_other_runs_do_without(bb: Path) -> None:
    for program in (str(bb / "bin/transfer"), "/usr/bin/apptainer"):
        assert with_darshan(str(bb), program, HERE) is HERE
    (bb / "darshan.json").unlink()
    assert with_darshan(str(bb), "/bin/cat", HERE) is HERE
