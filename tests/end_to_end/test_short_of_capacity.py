"""A tier that cannot hold all files at once never holds more than was asked for."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.placement import PFS
from pegasus_bb.runtime.bbdir import BBDir

from .conftest import Site

WIDTH, RUNGS, INPUT = 3, 6, 300_000
CAPACITY = 2_000_000  # of 6.3 MB; two levels have 1.8 MB
MARK = ".pegasus_bb_scratch"  # the run's own, a few bytes


def size(rung: int) -> int:
    """What mix writes: a line with a digest, and all that it has read."""
    return INPUT + 65 * rung


def chains() -> dict[str, Any]:
    """``WIDTH`` chains of tasks, each file read by the next task alone."""
    jobs = []
    for chain in range(WIDTH):
        names = [f"{rung}-{chain}.dat" for rung in range(RUNGS + 1)]
        for rung, (reads, writes) in enumerate(pairwise(names), 1):
            result = rung == RUNGS
            uses: list[dict[str, Any]] = [
                {"lfn": reads, "type": "input", "metadata": {"size": size(rung - 1)}},
                {"lfn": writes, "type": "output", "metadata": {"size": size(rung)}},
            ]
            uses[1].update(stageOut=result, registerReplica=False)
            entry = {"type": "job", "name": "mix", "id": f"J{rung}-{chain}"}
            jobs.append({**entry, "arguments": [writes, reads], "uses": uses})
    return {"pegasus": "5.0.4", "name": "chains", "jobs": jobs}


def expected() -> dict[str, bytes]:
    found = {}
    for chain in range(WIDTH):
        data = bytes([chain]) * INPUT
        for _ in range(RUNGS):
            data = hashlib.sha256(data).hexdigest().encode() + b"\n" + data
        found[f"{RUNGS}-{chain}.dat"] = data
    return found


@pytest.fixture
def short(site: Site) -> Site:
    """A site whose tier has room for two levels of the chains."""
    for chain in range(WIDTH):
        file = site.root / "inputs" / f"0-{chain}.dat"
        file.write_bytes(bytes([chain]) * INPUT)
    site.write()
    site.save("workflow.yml", chains())
    site.declare(capacity=str(CAPACITY))
    return site


@contextmanager
def watched(folder: Path) -> Iterator[list[int]]:
    """Looks at the bytes below ``folder`` all the time; the list has the most."""
    most, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(0.002):
            most[0] = max(most[0], _bytes_below(folder))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def _bytes_below(folder: Path) -> int:
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                found += os.lstat(f"{place}/{name}").st_size if name != MARK else 0
            except FileNotFoundError:
                pass  # gone since
    return found


def test_in_phases_the_tier_is_never_filled(short: Site) -> None:
    submit = short.planned("bb", "--bb-mode", "persistent")
    assert BBDir(str(submit / "bb")).request().capacity == 2 << 20
    with watched(short.tier_path) as most:
        done = short.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert short.content("bb") == expected()
    assert INPUT < most[0] <= CAPACITY
    assert short.reservations() == []


def test_without_clean_up_on_the_way_some_files_go_to_the_pfs(short: Site) -> None:
    done = short.plan("bb", "--bb-mode", "persistent", "--cleanup", "leaf")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to the PFS, for capacity is short" in done.stderr
    files = BBDir(str(short.submit_dir("bb") / "bb")).placement()["files"]
    gone = [lfn for lfn, file in files.items() if file["tier"] == PFS]
    assert {lfn for lfn in files if lfn.startswith("0-")} <= set(gone)
    with watched(short.tier_path) as most:
        done = short.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert short.content("bb") == expected()
    assert INPUT < most[0] <= CAPACITY


def test_a_dag_that_somebody_took_the_barriers_from_does_not_run(short: Site) -> None:
    submit = short.planned("bb", "--bb-mode", "persistent")
    dag = submit / "chains-0.dag"
    text = dag.read_text()
    dag.write_text(
        re.sub(r"^(PARENT clean_up\S+ CHILD.*?)( mix_\S+)+", r"\1", text, flags=re.M)
    )
    assert dag.read_text() != text
    done = short.run("bb")
    assert done.returncode == 2
    assert "there could be" in done.stderr
    assert short.reservations() == []
