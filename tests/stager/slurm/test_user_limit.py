"""A pool may limit what one user has of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.stager.slurm import buffers as module
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from tests.support.fakelua.site import buffers_in, store_in

ANN = 61001
BOB = 61002


class Site:
    """Pool flash of 10 MiB, of which a user may have 4."""

    def __init__(self, folder: Path, per_user: int = 4 * MIB) -> None:
        pool = GranulePool("flash", str(folder), 10 * MIB, MIB, per_user=per_user)
        self.store = store_in(folder)
        self.pools, self.buffers = buffers_in(pool, self.store, self.freed)

    def freed(self) -> None:
        self.buffers.grant_waiting()

    def state(self, name: str, size: int, uid: int) -> str:
        made = self.buffers.create(uid, uid, name, size * MIB, f"uuid-{name}", "")
        return made.state

    def reason(self, name: str) -> str:
        shown = self.buffers.shown(name)
        assert shown is not None
        return str(shown.get("reason", ""))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(module, "make_folder", lambda *_: None)
    return Site(tmp_path)


def test_a_user_at_the_limit_waits_and_keeps_no_other_user_back(
    site: Site, tmp_path: Path
) -> None:
    assert site.state("anna", 3, ANN) == "ready"
    assert site.state("anno", 2, ANN) == "pending"
    assert "of the 4.0 MiB of pool flash that a user may have, 1.0 MiB are left" in (
        site.reason("anno")
    )
    assert site.state("bobo", 4, BOB) == "ready"
    assert site.state("annx", 1, ANN) == "pending"  # in the order of asking
    site.store.close()
    again = Site(tmp_path)  # the service was started anew
    assert again.pools.free_for(again.pools.pool(""), ANN) == MIB
    again.buffers.delete(ANN, "anna")
    again.buffers.grant_waiting()
    assert again.reason("anno") == again.reason("annx") == ""


def test_what_no_user_may_have_is_refused_at_once(site: Site) -> None:
    with pytest.raises(Refused, match="more than one user may have of pool flash"):
        site.state("anna", 5, ANN)


def test_no_user_has_more_than_a_thousand(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    assert site.state("anna", 1, ANN) == site.state("anno", 1, ANN) == "ready"
    with pytest.raises(Refused, match="delete one first"):
        site.state("annx", 1, ANN)
    assert site.state("bobo", 1, BOB) == "ready"
    site.buffers.delete(ANN, "anna")
    assert site.state("annx", 1, ANN) == "ready"
