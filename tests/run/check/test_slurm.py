"""What `pegasus-bb check` says of a Slurm with or without a burst buffer."""

from __future__ import annotations

import getpass
import os
from typing import Any

import pytest

from pegasus_bb.model.finding import Level
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


def test_a_slurm_that_serves_users_is_fine(site: Site) -> None:
    site.good()
    assert site.wrong() == []


def test_a_job_s_own_buffer_needs_no_flag(site: Site) -> None:
    site.good("show-burst.no-persistent.txt")
    (site.work / "scratch").mkdir()
    site.sizes()
    said = {"mode": "transient", "capacity": "auto"}
    assert site.wrong(**said) == []
    assert (
        site.about("scratch", **said).what == f"{site.work}/scratch is seen from here"
    )


def test_job_reservations_are_named_with_the_shared_one(site: Site) -> None:
    site.good()
    site.tier(granularity="1")
    site.sizes()
    said = {"mode": "hybrid", "capacity": "auto", "headroom": "0"}
    assert site.wrong(**said) == []
    capacity = site.about("capacity", **said).what
    assert "more for each of 1 jobs, would be reserved" in capacity


def test_a_scratch_that_this_machine_does_not_see_is_told(site: Site) -> None:
    site.good()
    site.sizes()
    site.edit("sites.yml", lambda s: lead_away(s["sites"][1], "/lus/scratch"))
    assert site.wrong() == []
    (found,) = site.wrong(mode="transient", capacity="auto")
    assert "/lus/scratch is not seen from this machine" in found


def lead_away(site: dict[str, Any], path: str) -> None:
    (scratch,) = site["directories"]
    scratch.update(path=path)
    scratch["fileServers"][0].update(url=f"file://{path}")


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
    burst, line = (RECORDED / GOOD).read_text(), line.format(me=getpass.getuser())
    named = burst.replace("  GetSysState", f"  {line}\n  GetSysState")
    (site.work / "burst").write_text(named)
    site.slurm(str(site.work / "burst"))
    site.glite()
    found = site.wrong()
    assert bool(found) != fits
    assert fits or f"may use no burst buffer: {line}" in found[0]


def test_a_slurm_that_was_not_tried_is_a_word_and_no_mistake(site: Site) -> None:
    site.good()
    file = site.bin / "scontrol"
    file.write_text(file.read_text().replace("24.11.5", "25.05.1"))
    assert site.wrong() == []
    (found,) = [f for f in site.check() if "25.05.1" in f.what]
    assert found.level is Level.NOTE
    assert found.what == "slurm 25.05.1; this was tried with 22.05 and 24.11"


@pytest.mark.parametrize(
    ("spoil", "said", "what"),
    [
        (
            lambda s: (s.bin / "scontrol").unlink(),
            {},
            "no Slurm on this machine's PATH",
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


def test_root_gets_no_buffer(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    site.good()
    (found,) = site.wrong()
    assert "no burst buffer for root" in found
