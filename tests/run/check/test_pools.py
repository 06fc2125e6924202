"""What `pegasus-bb check` says of the pools of a tier."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.model.finding import Level
from pegasus_bb.model.pools import Pool
from pegasus_bb.model.tiers import Tier
from pegasus_bb.run.check.tier_storage import of_pools

TELLS = """#!/bin/sh
echo "$@" >> "$0.asked"
echo "Stripe pattern details:"
echo "+ Storage Pool: {pool} (archive)"
"""


@pytest.fixture
def tier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tier:
    (tmp_path / "bin").mkdir()
    (tmp_path / "fast/two").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return Tier(
        site="cluster",
        name="bb",
        backend="directory",
        pools=(Pool("archive", "two", beegfs_pool="2"),),
        settings={"path": f"{tmp_path}/fast"},
    )


def beegfs(tier: Tier, text: str) -> Path:
    program = Path(tier.settings["path"]).parent / "bin" / "beegfs"
    program.write_text(text)
    program.chmod(0o755)
    return program


def test_another_storage_pool_is_wrong(tier: Tier) -> None:
    beegfs(tier, TELLS.format(pool=1))
    (found,) = of_pools(tier)
    assert found.level is Level.WRONG
    assert "go to storage pool 1, and not to storage pool 2" in found.what
    assert "beegfs entry set --pool=2" in found.would_do


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#!/bin/sh\necho no such mount >&2; exit 1\n", "no such mount"),
        ("#!/bin/sh\necho Type: RAID0\n", "Type: RAID0"),
        ("#!/bin/sh\n", "no storage pool"),
        ("", "there is no beegfs"),
    ],
)
def test_where_nothing_is_told_nothing_is_wrong(
    tier: Tier, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text:
        beegfs(tier, text)
    else:
        monkeypatch.setenv("PATH", "/nowhere")
    (found,) = of_pools(tier)
    assert found.level is Level.NOTE
    assert words in found.what
