"""A fake Slurm: its state, its scheduling pass, its four programs; see README.md."""

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


def answer(argv: list[str]) -> None:
    """Answer as the program that ``argv`` names. Raises SystemExit for its errors."""
    _TOOLS[Path(argv[0]).name](argv[1:])


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


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seconds))


def _options(words: list[str]) -> dict[str, str]:
    return dict(word.lstrip("-").split("=", 1) for word in words if "=" in word)


def _sbatch(words: list[str]) -> None:
    """sbatch --parsable -N0 --job-name= --comment= --bbf=FILE --wrap=..."""
    options = _options(words)
    if "-N0" not in words or "wrap" not in options:
        sys.exit("sbatch: error: this fake knows jobs of no node only")
    line = Path(options["bbf"]).read_text().strip()
    if not line.startswith("#BB ") or "name=" not in line:
        failed = "Batch job submission failed: Burst Buffer request invalid"
        sys.exit(f"sbatch: error: {failed}")
    with cluster() as state:
        number = len(state["jobs"]) + 1
        state["jobs"].append(
            {
                "id": number,
                "name": options["job-name"],
                "comment": options.get("comment", ""),
                "line": line,
                "state": "PENDING",
                "reason": "BurstBufferResources",
                "priority": 1,
                "uid": os.getuid(),
                "waited": 0,
                "made": False,
                "comment_of_system": "",
            }
        )
    print(number)


def _scancel(words: list[str]) -> None:
    """scancel [--hurry] ID"""
    with cluster() as state:
        for job in state["jobs"]:
            if str(job["id"]) != words[-1]:
                continue
            if job["state"] == "PENDING":
                job["state"] = "CANCELLED"
            elif job["state"] == "STAGE_OUT" and words[0] == "--hurry":
                job["state"] = "COMPLETED"


def _scontrol(words: list[str]) -> None:
    """scontrol show burst | scontrol show job ID"""
    with cluster() as state:
        if words[1] == "burst":
            _show_burst(state)
            return
        found = [job for job in state["jobs"] if str(job["id"]) == words[2]]
        if not found:
            sys.exit("slurm_load_jobs error: Invalid job id specified")
        _show_job(found[0])


def _show_burst(state: dict[str, Any]) -> None:
    if not state["plugin"]:
        return
    rows, unseen = sum(row["size"] for row in state["buffers"]), state["unseen"]
    used = rows + unseen  # slurmctld knows what it hides, not what it has not read
    known = used if "PrivateData" in state["flags"] else rows
    total = state["total"]
    print(
        f"Name=datawarp DefaultPool=wlm_pool Granularity=1MiB TotalSpace={total}MiB "
        f"FreeSpace={total - used}MiB UsedSpace={known}MiB\n"
        f"  Flags={state['flags']}\n  PollInterval=15\n"
        "  GetSysState=/opt/dw/dw_wlm_cli\n  Allocated Buffers:"
    )
    for job in state["jobs"]:
        if job["state"] == "STAGE_OUT":
            print(
                f"    JobID={job['id']} CreateTime={_moment(0)} Pool=wlm_pool "
                f"Size=8MiB State=staged-in UserID=user{job['uid']}({job['uid']})"
            )
    for row in state["buffers"]:
        print(
            f"    Name={row['name']} CreateTime={_moment(row['created'])} "
            f"Pool=wlm_pool Size={row['size']}MiB State=allocated "
            f"UserID=user{row['uid']}({row['uid']})"
        )


def _show_job(job: dict[str, Any]) -> None:
    print(
        f"JobId={job['id']} JobName={job['name']}\n"
        f"   UserId=user{job['uid']}({job['uid']}) GroupId=users(100) MCS_label=N/A\n"
        f"   Priority={job['priority']} Nice=0 Account=(null) QOS=(null)\n"
        f"   JobState={job['state']} Reason={job['reason']} Dependency=(null)\n"
        f"   Comment={job['comment']} "
    )
    if job["comment_of_system"]:
        print(f"   SystemComment={job['comment_of_system']}")
    state = "staged-in" if job["made"] else "pending"
    print(f"   BurstBuffer={job['line']}\n   BurstBufferState={state}\n")


def _squeue(words: list[str]) -> None:
    """squeue --noheader --states=STATE [--name=NAME[,NAME...]] [--user=UID] --Format"""
    options = _options(words)
    wanted = re.findall(r"([A-Za-z_]+):0([^,]*)", options["Format"])
    with cluster() as state:
        for job in state["jobs"]:
            if (
                options["states"] in ("all", job["state"])
                and job["name"] in options.get("name", job["name"]).split(",")
                and options.get("user", str(job["uid"])) == str(job["uid"])
            ):
                row = _row(job)
                print("".join(f"{row[field]}{suffix}" for field, suffix in wanted))


def _row(job: dict[str, Any]) -> dict[str, Any]:
    return {
        "JobID": job["id"],
        "Name": job["name"],
        "UserName": f"user{job['uid']}",
        "UserID": job["uid"],
        "State": job["state"],
        "PriorityLong": job["priority"],
        "Comment": job["comment"] or "(null)",
        "BurstBufferState": "staged-in" if job["made"] else "pending",
        "Reason": job["reason"],
        "system_comment": job["comment_of_system"] or "(null)",
    }


_TOOLS = {
    "sbatch": _sbatch,
    "scancel": _scancel,
    "scontrol": _scontrol,
    "squeue": _squeue,
}
