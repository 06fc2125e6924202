"""Benches throttle a device by either cgroup; here as the kernel's files show it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.cgroups import throttling, version


def test_v1_limits_the_device_and_lifts_that(tmp_path: Path) -> None:
    limit = tmp_path / "blkio/blkio.throttle.write_bps_device"
    limit.parent.mkdir()
    limit.write_text("")
    assert version(tmp_path) == 1
    with throttling("7:0", 1000, tmp_path):
        assert limit.read_text() == "7:0 1000\n"
    assert limit.read_text() == "7:0 0\n"


def test_in_v2_this_process_goes_into_a_group_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The root has no limits. Without its memory, late writes count as the root's."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    home, own = tmp_path / "user.slice", tmp_path / "self"
    home.mkdir()
    own.write_text("0::/user.slice\n")
    removed: list[Path] = []
    # The kernel's files go with the folder.
    monkeypatch.setattr(Path, "rmdir", lambda path: removed.append(path))
    assert version(tmp_path) == 2
    with throttling("7:0", 1000, tmp_path, own):
        [group] = tmp_path.glob("pegasus_bb.report.bench.*")
        assert (tmp_path / "cgroup.subtree_control").read_text() == "+io +memory"
        assert (group / "io.max").read_text() == "7:0 wbps=1000\n"
        assert (group / "cgroup.procs").read_text() == f"{os.getpid()}\n"
        assert not removed
    assert (home / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    assert removed == [group]


def test_without_the_controller_there_is_none(tmp_path: Path) -> None:
    assert version(tmp_path) == 0
    (tmp_path / "cgroup.controllers").write_text("cpu pids\n")
    assert version(tmp_path) == 0
