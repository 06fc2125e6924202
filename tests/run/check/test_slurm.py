"""What `pegasus-bb check` says of a Slurm with or without a burst buffer."""

from __future__ import annotations

import getpass
from typing import Any

import pytest

from tests.run.check.site import GOOD, RECORDED, Site


@pytest.mark.parametrize(
    ("recorded", "status", "words"),
    [
        ("show-burst.no-plugin.txt", 0, "this Slurm has no burst buffer"),
        ("show-burst.no-persistent.txt", 0, "only operators may make persistent"),
        ("show-burst.controller-down.txt", 1, "scontrol show burst: "),
    ],
)
def test_what_slurm_lacks_is_told(
    site: Site, recorded: str, status: int, words: str
) -> None:
    site.slurm(recorded, status)
    site.glite()
    (found,) = site.wrong()
    assert found.startswith("slurm: ") and words in found


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("AllowUsers=alice,bob", False),
        ("DenyUsers=mallory,{me}", False),
        ("AllowUsers=alice,{me}", True),
        ("DenyUsers=mallory", True),
    ],
)
def test_only_allowed_users_may_use_it(site: Site, line: str, fits: bool) -> None:
    """Slurm prints the line where burst_buffer_info.c has it: above GetSysState."""
    burst = (RECORDED / GOOD).read_text()
    line = line.format(me=getpass.getuser())
    named = burst.replace("  GetSysState", f"  {line}\n  GetSysState")
    (site.work / "burst").write_text(named)
    site.slurm(str(site.work / "burst"))
    site.glite()
    found = site.wrong()
    assert bool(found) != fits
    assert fits or f"may use no burst buffer: {line}" in found[0]


@pytest.mark.parametrize(
    ("spoil", "said", "what"),
    [
        (
            lambda s: (s.bin / "scontrol").unlink(),
            {},
            "there is no scontrol on PATH",
        ),
        (lambda s: s.tier(pool="x"), {}, "slurm: there is no pool x -> pool: one of "),
        (lambda s: None, {"capacity": "900TiB"}, "leave the request pending for ever"),
    ],
)
def test_a_pool_that_cannot_give_it_is_told(
    site: Site, spoil: Any, said: dict[str, str], what: str
) -> None:
    site.good()
    spoil(site)
    (found,) = site.wrong(**said)
    assert what in found
