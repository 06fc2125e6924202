"""The state of a fake Slurm and its scheduling pass; see README.md."""

from __future__ import annotations

import fcntl
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MIB = 1 << 20
FRESH: dict[str, Any] = {
    "down": False,  # slurmctld does not answer
    "plugin": True,  # burst_buffer/datawarp is configured
    "flags": "EnablePersistent",
    "total": 1024,  # MiB in the pool
    "create_fails": "",  # words of dw_wlm_cli
    "destroy_fails": "",  # words of dw_wlm_cli
    "lingers": False,  # the job that asks stays PENDING for a while after its success
    "passes": 0,  # scheduling passes before a job is looked at
    "unseen": 0,  # MiB in use of buffers that slurmctld has not read back
    "buffers": [],
    "jobs": [],
}


@contextmanager
def cluster() -> Iterator[dict[str, Any]]:
    path = Path(os.environ["FAKE_SLURM"])
    with Path(str(path) + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = json.loads(path.read_text())
        if state["down"]:
            sys.exit(_down())
        for job in state["jobs"]:
            if job["state"] == "PENDING" and job["priority"]:
                _schedule(state, job)
        yield state
        path.write_text(json.dumps(state, indent=1))


def _down() -> int:
    what = "slurm_load_burst_buffer_info error: Unable to contact slurm controller"
    print(f"{what} (connect failure)", file=sys.stderr)
    return 1


def _schedule(state: dict[str, Any], job: dict[str, Any]) -> None:
    job["waited"] += 1
    if job["waited"] <= state["passes"]:
        return
    words = dict(re.findall(r"(\w+)=(\S+)", job["line"]))
    row = next((b for b in state["buffers"] if b["name"] == words["name"]), None)
    if "create_persistent" in job["line"]:
        _create(state, job, words, row)
    elif row is None:
        _end(job)  # Slurm ignores the end of an unknown name, without a word
    elif row["uid"] != job["uid"]:
        _hold(job, f"Delete buffer {row['name']} permission denied")
    elif state["destroy_fails"]:
        job["comment_of_system"] = f"teardown: {state['destroy_fails']}"
    else:
        state["buffers"].remove(row)
        _end(job)


def _create(
    state: dict[str, Any], job: dict[str, Any], words: dict[str, str], row: Any
) -> None:
    size = -(-int(words["capacity"]) // MIB)
    if job["made"]:
        return
    if row is not None and row["uid"] != job["uid"]:
        _hold(job, "Duplicate buffer name")
    elif row is not None:
        _end(job)  # the old buffer is silently used again
    elif state["create_fails"]:
        _hold(job, state["create_fails"])
    elif sum(b["size"] for b in state["buffers"]) + size <= state["total"]:
        allocate(state, words["name"], size, job["uid"])
        job["made"] = True
        if not state["lingers"]:
            _end(job)


def allocate(state: dict[str, Any], name: str, size: int, uid: int) -> None:
    now = time.time()
    state["buffers"].append({"name": name, "size": size, "uid": uid, "created": now})


def _end(job: dict[str, Any]) -> None:
    job.update(state="COMPLETED", reason="None")


def _hold(job: dict[str, Any], words: str) -> None:
    reason = words.replace(" ", "_") + "_"
    job.update(priority=0, reason=reason)
    job["comment_of_system"] = f"burst_buffer/datawarp: create_persistent: {words}\n "


def moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))
