"""What `pegasus-bb check` says of the staging service that a tier names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.run.check.stager_service import of_sockets
from pegasus_bb.runtime.stager_client.client import Client, NoService
from tests.run.check.site import Site
from tests.stager.conftest import Daemon, daemon

__all__ = ["daemon"]


def name_service(site: Site, sockets: Path) -> None:
    def change(sites: dict[str, Any]) -> None:
        (tier,) = sites["x-storage-tiers"]["cori"]
        tier["service"] = str(sockets)

    site.edit("sites.yml", change)


def test_one_that_answers_is_fine(site: Site, daemon: Daemon) -> None:
    name_service(site, daemon.sockets)
    daemon.start()
    assert site.wrong() == []


def test_one_that_is_away_is_told_with_what_would_do(
    site: Site, tmp_path: Path
) -> None:
    name_service(site, tmp_path / "nowhere")
    [found] = site.wrong()
    assert "no staging service" in found


def test_sockets_that_are_open_to_others_are_named(site: Site, daemon: Daemon) -> None:
    name_service(site, daemon.sockets)
    daemon.start()
    (daemon.sockets / "control").chmod(0o666)
    [found] = site.wrong()
    assert "control has mode 0666, not 0600" in found


def test_a_socket_that_is_missing_is_named(site: Site, daemon: Daemon) -> None:
    name_service(site, daemon.sockets)
    daemon.start()
    (daemon.sockets / "control").unlink()
    [found] = site.wrong()
    assert f"{daemon.sockets}/control: No such file" in found


def test_a_folder_that_the_user_may_not_see_is_no_crash(of_a_user: Path) -> None:
    (of_a_user / "closed" / "sockets").mkdir(parents=True)
    (of_a_user / "closed").chmod(0)
    try:
        assert list(of_sockets(of_a_user / "closed" / "sockets", True)) == []
    finally:
        (of_a_user / "closed").chmod(0o700)


def test_a_service_that_is_closed_to_the_user_is_told(
    of_a_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", os.geteuid)
    (of_a_user / "sockets").mkdir(0)
    try:
        with pytest.raises(NoService, match="closed to you; its administrator gives"):
            Client(str(of_a_user / "sockets"))
    finally:
        (of_a_user / "sockets").chmod(0o700)


@pytest.fixture
def narrow(daemon: Daemon, tmp_path: Path) -> Iterator[Daemon]:
    """A site's service that has a single dataspace."""
    if os.getuid() != 0:
        pytest.skip("a site's service is root's")
    config = tmp_path / "stager.json"
    spaces = {"lustre": {"path": str(tmp_path / "lus")}}
    folders = {"state": str(tmp_path / "state"), "sockets": str(daemon.sockets)}
    config.write_text(json.dumps({"dataspaces": spaces, **folders}))
    argv = [sys.executable, "-m", "pegasus_bb.stager", "--site", str(config)]
    daemon.process = subprocess.Popen(argv, env=os.environ)
    daemon.connect().close()
    yield daemon


def test_places_that_it_does_not_reach_are_named(site: Site, narrow: Daemon) -> None:
    name_service(site, narrow.sockets)
    with Client(str(narrow.sockets)) as client:
        assert list(client.ask("ping")["roots"]) == ["lustre"]
    found = site.wrong()
    assert len(found) == 2
    assert "the folder of tier" in found[0] and "the scratch of site" in found[1]
    assert all(
        "lies in no dataspace of the staging service: lustre" in f for f in found
    )
