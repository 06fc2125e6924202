"""The folders of pools: made by the first run, and for all who may use the tier."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.backends.pool_folders import make_pool_folders


@pytest.fixture
def narrow() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("mode", [0o1777, 0o755, 0o700])
def test_a_pool_has_the_mode_of_the_tiers_folder(tmp_path: Path, mode: int) -> None:
    tier = tmp_path / "bb"
    tier.mkdir()
    tier.chmod(mode)
    make_pool_folders([f"{tier}/flash/short/run1", f"{tier}/flash/long/run1"])
    for pool in ("flash", "flash/short", "flash/long"):
        assert stat.S_IMODE((tier / pool).stat().st_mode) == mode
    assert stat.S_IMODE((tier / "flash/short/run1").stat().st_mode) == 0o700


def test_a_pool_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "short").mkdir(mode=0o750)
    make_pool_folders([f"{tmp_path}/short/run1"])
    assert stat.S_IMODE((tmp_path / "short").stat().st_mode) == 0o750
