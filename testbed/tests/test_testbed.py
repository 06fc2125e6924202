"""What `pegasus-bb testbed` says and keeps where nothing is up, or nothing can be."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner
from pegasus_bb_testbed import home as homes
from pegasus_bb_testbed import nodes, rootfs, site, testbed
from pegasus_bb_testbed.command import command
from pegasus_bb_testbed.home import DEFAULT, FLAVOURS, Home

from pegasus_bb.core.errors import PegasusBBError, UsageError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(DEFAULT, tmp_path)
    home.folder.mkdir()
    return home


@pytest.mark.parametrize(
    ("words", "uid", "message"),
    [
        ("up", 1000, "needs root"),
        ("down", 1000, "needs root"),
        ("status", 1000, "needs root"),
        ("run true", 1000, "Run it with sudo"),
        ("--slurm 17.11 up", 0, ", ".join(FLAVOURS)),
        ("up --pegasus", 0, "set PEGASUS_HOME"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, uid: int, message: str
) -> None:
    monkeypatch.delenv("PEGASUS_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PEGASUS_BB_TESTBED", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    answer = CliRunner().invoke(command, words.split())
    assert isinstance(answer.exception, UsageError)
    assert message in str(answer.exception)
    assert list(tmp_path.iterdir()) == []


def test_several_nodes_have_a_disk_each_and_one_has_none(tmp_path: Path) -> None:
    home = Home(FLAVOURS["22.05"], tmp_path)
    (home.root / "usr/local/sbin").mkdir(parents=True)
    conf = home.root / "etc/slurm/slurm.conf"
    site.write_settings(home, 1)
    assert nodes.names(home) == ["testbed"] and "nvme" not in conf.read_text()
    site.write_settings(home, 3)
    assert nodes.names(home) == ["node1", "node2", "node3"]
    assert conf.read_text().count("Gres=nvme:60") == 3
    assert "JobContainerType" not in conf.read_text()  # 22.05 knows no Dirs


def test_up_is_told_how_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(
        testbed, "up", lambda *_, node_count, **__: told.append(node_count)
    )
    for words in (["up"], ["up", "--nodes", "4"]):
        assert CliRunner().invoke(command, words).exit_code == 0
    assert told == [1, 4]


# -- the root file system


class Builder:
    """Stands where debootstrap and apt are started; makes what they would make."""

    def __init__(self, home: Home, fails_at: str = "") -> None:
        self.home, self.fails_at = home, fails_at
        self.seen: list[list[str]] = []

    def __call__(self, _: Home, argv: list[str]) -> None:
        self.seen.append(argv)
        if self.fails_at and self.fails_at in argv:
            raise PegasusBBError(f"{argv[0]} failed")
        if argv[0] == "cp":
            shutil.copytree(argv[-2], argv[-1])
        if argv[0] == "debootstrap":
            for folder in ("etc/apt/apt.conf.d", "usr/sbin", "usr/libexec/blahp"):
                (self.home.part / folder).mkdir(parents=True)
            script = self.home.part / "usr/libexec/blahp/blah.py"
            script.write_text("self.readfp(x)\n")


def _build(home: Home, monkeypatch: pytest.MonkeyPatch, fails_at: str = "") -> Builder:
    builder = Builder(home, fails_at)
    monkeypatch.setattr(rootfs, "_run", builder)
    rootfs.build(home, lambda _: None)
    return builder


def test_a_root_file_system_is_whole_only_at_the_end(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PegasusBBError):
        _build(home, monkeypatch, fails_at="install")
    assert home.part.is_dir()
    assert not rootfs.is_whole(home)
    (home.part / "half").touch()
    _build(home, monkeypatch)
    assert rootfs.is_whole(home)
    assert not home.part.exists()
    assert not (home.root / "half").exists()
    assert "read_file" in (home.root / "usr/libexec/blahp/blah.py").read_text()


def test_one_up_or_down_at_a_time_and_the_next_one_waits(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homes, "_PATIENCE", 0.0)
    refused = pytest.raises(UsageError, match="another pegasus-bb testbed works on")
    with home.locked(), refused, home.locked():
        pass
    monkeypatch.undo()
    with ThreadPoolExecutor() as pool:
        with home.locked():
            waits = pool.submit(_lock, home)
            assert not waits.done()
        waits.result(timeout=30)


def _lock(home: Home) -> None:
    with home.locked():
        pass


def test_what_is_mounted_below_is_never_deleted_through(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.root.mkdir()
    found = str(home.root / "proc")
    monkeypatch.setattr(rootfs, "mounted_below", lambda _: [found])
    with pytest.raises(UsageError, match="unmount it first"):
        rootfs.remove(home.root)
    assert home.root.is_dir()
