"""pegasus-bb run and pegasus-bb status as a user types them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pegasus_bb.core.files import write_json
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.run.engine.submitdir import find_submit_dir
from pegasus_bb.run.inventory.run_state import run_status
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.bbdir import BBDir

from .conftest import Folder, request_of, reserved

pytestmark = pytest.mark.usefixtures("any_dag_will_do")


def as_json(folder: Folder) -> dict[str, Any]:
    done = folder.command("status", "--json", str(folder.path))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_before_the_run(folder: Folder) -> None:
    for name in "abc":
        folder.job(name)
    folder.chain("a", "c")
    folder.write()
    found = as_json(folder)
    assert (found["nodes"]["ready"], found["nodes"]["waiting"]) == (2, 1)
    unknown = {"engine": "", "finished": None, "reservation": None}
    assert found.items() >= unknown.items()


def test_while_it_runs(folder: Folder) -> None:
    folder.steps("a", "b until=go ready=up", "c")
    engine = folder.start(until="up")
    folder.wait_for_event("b", "EXECUTE")
    found = as_json(folder)
    assert found["engine"].startswith(f"pid {engine.pid} on host ")
    assert found["running"] == ["b"]
    counts = {name: n for name, n in found["nodes"].items() if n}
    assert counts == {"done": 1, "running": 1, "waiting": 1, "total": 3}
    folder.finish(engine)
    assert as_json(folder)["nodes"]["done"] == 3


def test_after_a_failure(folder: Folder) -> None:
    folder.steps("a", "b exits=7", "c")
    folder.fails()
    status = run_status(find_submit_dir(folder.path))
    assert status.failed == ["b"]
    assert (status.nodes["done"], status.nodes["futile"]) == (1, 1)
    assert status.last_failures[0] == "  b: its job ended with exit status 7"
    text = folder.command("status", str(folder.path)).stdout
    assert "stopped; `pegasus-bb run` continues it" in text


def test_a_full_tier_is_planned_again_with_what_its_file_system_has(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserved(folder.path, "pbbfull", tmp_path / "tier")  # 8 MiB
    folder.job("a", 'err="No space left on device"', "exits=1")
    folder.fails()
    room = SimpleNamespace(f_bavail=11, f_frsize=MIB)
    monkeypatch.setattr(os, "statvfs", lambda path: room)
    cause = run_status(find_submit_dir(folder.path)).cause
    assert "that is all that its file system has" in cause[1]
    assert cause[-1].endswith("with --bb-capacity 16MiB")
    room.f_bavail = 14
    cause = run_status(find_submit_dir(folder.path)).cause
    assert cause[-1].endswith("with --bb-capacity 12MiB")
    text = folder.command("status", str(folder.path)).stdout
    assert "stopped; the last lines say what would do" in text
    room.f_frsize = 1
    for least, says in ((0.99, "the tier is full"), (0.9, "the file system of")):
        room.f_bavail = int(least * 8 * MIB)
        cause = run_status(find_submit_dir(folder.path)).cause
        assert cause[0].startswith(f"cause:       {says}")


def test_the_full_disk_of_a_node_is_planned_again_with_more_than_its_job_had(
    folder: Folder, tmp_path: Path
) -> None:
    (folder.path / "bb").mkdir()
    request = request_of("pbbfull", tmp_path)._replace(settings={})  # 8 MiB
    write_json(str(folder.path / "bb" / "transient.json"), request.to_json())
    words = f"No space left on device; this job has {63 * MIB + 1} bytes of it"
    folder.job("a", f'err="{words}"', "exits=1")
    folder.fails()
    cause = run_status(find_submit_dir(folder.path)).cause
    assert cause[-1].endswith("with --bb-capacity 128MiB")


@pytest.fixture
def request_(folder: Folder, tmp_path: Path, ledger: Path) -> Request:
    """Of a run that has not asked for it yet; the tier's folder is not there."""
    folder.job("a")
    folder.write()
    request = request_of("pbbstatus", tmp_path / "tier")
    (folder.path / "bb").mkdir()
    write_json(str(folder.path / "bb" / "plan.json"), {"version": 2, "dag": "w.dag"})
    write_json(str(folder.path / "bb" / "request.json"), request.to_json())
    return request


def ask_for(folder: Folder, request: Request) -> None:
    noted = open_backend("directory", request.settings).create(request)
    BBDir(str(folder.path / "bb")).note_reservation(noted)


def test_bytes_on_the_reservation(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    ask_for(folder, request_)
    empty = as_json(folder)["reservation"]["bytes"]
    data = tmp_path / "tier" / "pbbstatus" / "data"
    data.write_bytes(b"x" * 5000)
    found = as_json(folder)["reservation"]
    assert (found["state"], found["bytes"] - empty) == ("ready", 5000)
    assert found["over"] is False
    text = folder.command("status", str(folder.path)).stdout
    (line,) = [x for x in text.splitlines() if x.startswith("reservation ")]
    assert "reservation pbbstatus (directory): ready" in line
    assert "of 8.0 MiB used" in line and "MORE" not in line
    data.write_bytes(bytes(9 << 20))
    assert as_json(folder)["reservation"]["over"] is True


def test_run_answers_with_its_exit_codes(folder: Folder) -> None:
    folder.job("a", "exits=1,0", "err=why it failed")
    folder.write()
    for status, says in (
        (80, "| why it failed"),
        (0, "the node is done"),
        (0, "the node was done before"),
    ):
        done = folder.command("run", str(folder.path))
        assert (done.returncode, "Traceback" in done.stderr) == (status, False)
        assert says in done.stderr
