"""`pegasus-bb site install`: the hooks are tried before slurmctld reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.stager.slurm import install_hooks as installing
from pegasus_bb.stager.slurm.install_hooks import (
    FUNCTIONS,
    dry_run_text,
    hooks_text,
    missing_functions,
    take_out,
)
from tests.support.lua_program import host_lua

__all__ = ["host_lua"]
TEMPLATES = Path(installing.__file__).parent / "templates"
TEXT = hooks_text("/srv/spool")
needs_lua = pytest.mark.usefixtures("host_lua")


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text("ClusterName=test\n")
    return tmp_path


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose Lua takes everything."""
    monkeypatch.setattr(installing, "why_not", lambda text: "")


OURS = ("pegasus_bb", "site", "install")
PACKAGE = ("pegasus_bb.stager.slurm",)  # where only Python is


def run(
    *words: str, command: tuple[str, ...] = OURS
) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", *command, *words]
    return subprocess.run(argv, capture_output=True, text=True)


def install(conf: Path, spool: str = "/srv/spool") -> str:
    return installing.install(str(conf), spool)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_hooks_name_the_spool_of_the_site(conf: Path, tried: None) -> None:
    path = install(conf)
    text = Path(path).read_text()
    assert 'local SPOOL = "/srv/spool"\n' in text
    assert missing_functions(text) == []
    assert names(conf) == ["burst_buffer.lua", "slurm.conf"]


@needs_lua
@pytest.mark.parametrize("command", [OURS, PACKAGE], ids=["ours", "package"])
def test_the_command_prints_what_slurm_needs(
    conf: Path, command: tuple[str, ...]
) -> None:
    words = ("--slurm-conf", str(conf))
    done = run(*words, command=command)
    assert done.returncode == 0, done.stderr
    for line in ("BurstBufferType=burst_buffer/lua", "Flags=TeardownFailure"):
        assert f"  {line}\n" in done.stdout
    for _ in range(2):  # and once more
        undone = run(*words, "--undo", command=command)
        assert undone.returncode == 0, undone.stderr
        assert names(conf) == ["slurm.conf"]
        assert run(*words, command=command).returncode == 0
        assert names(conf) == ["burst_buffer.lua", "slurm.conf"]


def test_what_was_there_comes_back(conf: Path, tried: None) -> None:
    (conf / "burst_buffer.lua").write_text("-- the site's own\n")
    for _ in range(2):  # the second one is an upgrade of ours
        install(conf)
    assert (conf / "burst_buffer.lua.before").read_text() == "-- the site's own\n"
    take_out(str(conf))
    assert (conf / "burst_buffer.lua").read_text() == "-- the site's own\n"
    with pytest.raises(UsageError, match="not ours; nothing is changed"):
        take_out(str(conf))


def test_two_files_of_others_are_not_made_one(conf: Path, tried: None) -> None:
    (conf / "burst_buffer.lua").write_text("-- the site's own\n")
    (conf / "burst_buffer.lua.before").write_text("-- an older one\n")
    with pytest.raises(UsageError, match="both not ours"):
        install(conf)
    assert (conf / "burst_buffer.lua").read_text() == "-- the site's own\n"
    assert (conf / "burst_buffer.lua.before").read_text() == "-- an older one\n"


def test_hooks_that_slurm_still_needs_stay(conf: Path, tried: None) -> None:
    install(conf)
    (conf / "slurm.conf").write_text("BurstBufferType=burst_buffer/lua\n")
    with pytest.raises(UsageError, match="slurmctld ends at its next start"):
        take_out(str(conf))
    assert "burst_buffer.lua" in names(conf)


@pytest.mark.parametrize("spool", ["relative", '/a"b', "/a\\b", "/a\nb", ""])
def test_a_spool_that_lua_would_misread_is_refused(
    conf: Path, tried: None, spool: str
) -> None:
    with pytest.raises(UsageError, match="an absolute path without quotes"):
        install(conf, spool)
    assert names(conf) == ["slurm.conf"]


def test_a_folder_without_slurm_conf_is_refused(tmp_path: Path) -> None:
    done = run("--slurm-conf", str(tmp_path))
    assert done.returncode == 2 and "has no slurm.conf" in done.stderr
    assert names(tmp_path) == []


@needs_lua
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_fails_when_it_is_called_is_found(
    name: str, conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = re.sub(rf"(function slurm_bb_{name}\(.*\))", r"\1 nothing.at_all()", TEXT)
    monkeypatch.setattr(installing, "hooks_text", lambda spool: bad)
    with pytest.raises(UsageError, match="nothing"):
        install(conf)
    assert names(conf) == ["slurm.conf"]


@needs_lua
def test_hooks_of_others_are_not_called(tmp_path: Path) -> None:
    made = tmp_path / "made"
    text = f"function slurm_bb_pools() io.open('{made}', 'w') end\n"
    assert installing.why_not(dry_run_text(text)) == ""
    assert not made.exists()


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.lua")), ids=str)
def test_no_hook_can_start_a_program(path: Path) -> None:
    """SlurmUser runs them with words of any user."""
    text = path.read_text()
    found = re.findall(r"os\.(\w+)|io\.(\w+)", text)
    allowed = {"time", "remove", "rename", "open"}
    assert {name for pair in found for name in pair if name} <= allowed
    words = r"\b(execute|popen|loadstring|dofile|loadfile|require|setfenv)\b"
    assert re.findall(words, text) == []


@pytest.mark.parametrize(
    ("versions", "is_taken"),
    [
        ({"scontrol": "slurm 23.11.4"}, False),
        ({"scontrol": "slurm-wlm 24.05.0"}, True),
        ({"slurmctld": "slurm 23.11.4", "scontrol": "slurm 24.11.5"}, False),
        ({"slurmctld": "no words of Slurm", "scontrol": "slurm 23.11.4"}, False),
    ],
    ids=str,
)
def test_a_slurm_that_is_too_old_is_refused(
    conf: Path,
    tried: None,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    versions: dict[str, str],
    is_taken: bool,
) -> None:
    """slurmctld calls the hooks, so its own word counts where it is here."""
    folder = tmp_path_factory.mktemp("slurm")
    for name, version in versions.items():
        (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    if is_taken:
        install(conf)
        return
    with pytest.raises(UsageError, match=r"23\.11\.4 has 11 of the 13"):
        install(conf)
    assert names(conf) == ["slurm.conf"]
