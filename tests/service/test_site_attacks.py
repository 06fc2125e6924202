"""Two ordinary users against each other and against root's service."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.test_users import ANN, BOB, Site, copied, site

__all__ = ["site"]
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="a site's service is root's")


def test_a_link_into_another_users_folder_gives_nothing(
    site: Site, tmp_path: Path
) -> None:
    secret = tmp_path / f"lustre/{ANN}/secret"
    secret.write_text("ann's")
    os.chown(secret, ANN, ANN)
    secret.chmod(0o600)
    for name, target in (("file", secret), ("folder", secret.parent)):
        link = tmp_path / f"lustre/{BOB}/{name}"
        link.symlink_to(target)
        os.lchown(link, BOB, BOB)
    for name in ("file", "folder", "folder/secret"):
        [ended] = site.ask(BOB, "submit", tasks=copied(BOB, name))["tasks"]
        assert ended["state"] == "failed"
    assert list((tmp_path / f"bb/{BOB}").iterdir()) == []


def test_no_user_moves_or_removes_what_is_another_users(
    site: Site, tmp_path: Path
) -> None:
    kept = tmp_path / f"lustre/{ANN}/kept"
    kept.write_text("ann's")
    source = {"source": f"lustre://{ANN}/kept"}
    for task in (
        {"kind": "remove", **source},
        {"kind": "move", **source, "dest": f"bb://{BOB}/mine"},
        {"kind": "copy", **source, "dest": f"bb://{ANN}/planted"},
    ):
        [ended] = site.ask(BOB, "submit", tasks=[task])["tasks"]
        assert ended["state"] == "failed"
    assert kept.read_text() == "ann's"
    assert list((tmp_path / f"bb/{ANN}").iterdir()) == []


def test_a_site_has_no_place_but_its_dataspaces(site: Site) -> None:
    for place in ("file:///etc/shadow", "/etc/shadow", f"lustre://{BOB}/../x"):
        asked = site.ask(BOB, "submit", tasks=[{"kind": "remove", "source": place}])
        assert asked == {"refused": "bad-place"}


def test_the_sockets_have_the_modes_that_check_wants(site: Site) -> None:
    modes = {p.name: p.stat().st_mode & 0o777 for p in site.sockets.iterdir()}
    assert modes == {"user": 0o666, "control": 0o600}
