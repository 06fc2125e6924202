"""What `pegasus-bb check` says of the staging service that a tier names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from tests.run.check.site import Site
from tests.stager.conftest import daemon
from tests.support.stager import Daemon

__all__ = ["daemon"]


def name_service(site: Site, sockets: Path) -> None:
    site.tier(service=str(sockets))


def test_check_names_a_service_that_is_away_and_what_would_do(
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
