"""Two ordinary users against each other and against root's service."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.stager.test_users import ANN, BOB, Site, copied, life, site

__all__ = ["life", "site"]
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="a site's service is root's")


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
        assert site.end_of(BOB, task)[0] == "failed"
    assert kept.read_text() == "ann's"
    assert list((tmp_path / f"bb/{ANN}").iterdir()) == []


def test_a_folder_on_the_way_needs_to_be_searched_only(
    site: Site, tmp_path: Path
) -> None:
    """A dataspace such as /home, and a folder in it, often have the mode 0711. In one
    where Bob may write and not look, nothing is made: it could not be synced."""
    way = tmp_path / "lustre/way"
    (way / "in").mkdir(parents=True)
    (way / "in/f").write_text("for all")
    writable = tmp_path / "bb/writable"
    writable.mkdir()
    for folder, mode in ((way.parent, 0o711), (way, 0o711), (writable, 0o733)):
        folder.chmod(mode)
    source = {"kind": "copy", "source": "lustre://way/in/f"}
    for dest, message in (
        (f"bb://{BOB}/f", ""),
        ("bb://writable/new/f", f"{writable}: Permission denied"),
    ):
        assert site.end_of(BOB, {**source, "dest": dest})[1] == message
    assert (tmp_path / f"bb/{BOB}/f").read_text() == "for all"
    assert list(writable.iterdir()) == []


def test_the_sockets_have_the_modes_that_check_wants(site: Site) -> None:
    modes = {p.name: p.stat().st_mode & 0o777 for p in site.sockets.iterdir()}
    assert modes == {"user": 0o666, "control": 0o600}


@pytest.mark.parametrize("side", ["source", "dest"])
def test_a_link_that_is_swapped_after_the_submission_gives_nothing(
    site: Site, tmp_path: Path, side: str
) -> None:
    """A folder of Bob becomes a link to Ann's, another to one that all may enter."""
    space = "lustre" if side == "source" else "bb"
    ann, bob = (tmp_path / space / str(uid) for uid in (ANN, BOB))
    open_to_all = tmp_path / "elsewhere"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    for secret in (ann / "file", open_to_all / "file"):
        secret.write_text("not Bob's")
    for name in ("ann", "out"):
        source = tmp_path / f"lustre/{BOB}/{name}"
        source.mkdir()
        (source / "file").write_text("Bob's")
        for path in (source, source / "file"):
            os.chown(path, BOB, BOB)
    with site.control() as control:
        control.ask("pause")
        tasks = [copied(BOB, f"{name}/file") for name in ("ann", "out")]
        numbers = site.submit(BOB, *tasks)
        for name, target in (("ann", ann), ("out", open_to_all)):
            if side == "source":
                (bob / name).rename(bob / f"{name}-was")
            (bob / name).symlink_to(target)
            os.lchown(bob / name, BOB, BOB)
        control.ask("resume")
        ended = control.ask("wait", tasks=numbers, everyone=True)["tasks"]
    assert [task["state"] for task in ended] == ["failed", "failed"]
    for kept in (ann, open_to_all):
        assert [path.name for path in kept.iterdir()] == ["file"]
        assert (kept / "file").read_text() == "not Bob's"
    if side == "source":
        for name in ("ann", "out"):
            assert not (tmp_path / f"bb/{BOB}/{name}/file").exists()
