"""`pegasus-bb site install`: the hooks are tried before slurmctld reads them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.service.slurm import install as installing
from pegasus_bb.service.slurm import lua
from pegasus_bb.service.slurm.hooks import FUNCTIONS, dry_run_text, hooks_text
from pegasus_bb.service.slurm.install import missing_functions

from .lua_on_path import lua_on_path

__all__ = ["lua_on_path"]
needs_lua = pytest.mark.usefixtures("lua_on_path")


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "slurm.conf").write_text("ClusterName=test\n")
    return tmp_path / "etc"


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose Lua takes everything."""
    monkeypatch.setattr(installing, "why_not", lambda text: "")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pegasus_bb", "site", "install", *words]
    return subprocess.run(argv, capture_output=True, text=True)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_hooks_name_the_spool_of_the_site(conf: Path, tried: None) -> None:
    path = installing.install(str(conf), "/srv/spool")
    text = Path(path).read_text()
    assert 'local SPOOL = "/srv/spool"\n' in text
    assert missing_functions(text) == []
    assert names(conf) == ["burst_buffer.lua", "slurm.conf"]


@needs_lua
def test_the_command_prints_what_slurm_needs(conf: Path) -> None:
    done = run("--slurm-conf", str(conf))
    assert done.returncode == 0, done.stderr
    for line in ("BurstBufferType=burst_buffer/lua", "Flags=TeardownFailure"):
        assert f"  {line}\n" in done.stdout
    undone = run("--slurm-conf", str(conf), "--undo")
    assert undone.returncode == 0, undone.stderr
    assert names(conf) == ["slurm.conf"]


def test_what_was_there_comes_back(conf: Path, tried: None) -> None:
    (conf / "burst_buffer.lua").write_text("-- the site's own\n")
    for _ in range(2):  # the second one is an upgrade of ours
        installing.install(str(conf), "/srv/spool")
    assert (conf / "burst_buffer.lua.before").read_text() == "-- the site's own\n"
    installing.take_out(str(conf))
    assert (conf / "burst_buffer.lua").read_text() == "-- the site's own\n"
    with pytest.raises(UsageError, match="not ours; nothing is changed"):
        installing.take_out(str(conf))


def test_two_files_of_others_are_not_made_one(conf: Path, tried: None) -> None:
    (conf / "burst_buffer.lua").write_text("-- the site's own\n")
    (conf / "burst_buffer.lua.before").write_text("-- an older one\n")
    with pytest.raises(UsageError, match="both not ours"):
        installing.install(str(conf), "/srv/spool")
    assert (conf / "burst_buffer.lua").read_text() == "-- the site's own\n"
    assert (conf / "burst_buffer.lua.before").read_text() == "-- an older one\n"


def test_a_full_disk_leaves_the_hooks_that_were_there(
    conf: Path, tried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (conf / "burst_buffer.lua").write_text("-- the site's own\n")
    real = installing.write_text

    def full(path: str, text: str) -> None:
        if path.endswith(".lua"):
            raise OSError(28, "No space left on device", path)
        real(path, text)

    monkeypatch.setattr(installing, "write_text", full)
    with pytest.raises(UsageError, match="No space left"):
        installing.install(str(conf), "/srv/spool")
    assert (conf / "burst_buffer.lua").read_text() == "-- the site's own\n"


def test_a_link_to_nothing_is_told_in_a_sentence(conf: Path) -> None:
    (conf / "burst_buffer.lua").symlink_to("nowhere")
    done = run("--slurm-conf", str(conf), "--undo")
    assert done.returncode == 2 and "No such file" in done.stderr
    assert "Traceback" not in done.stderr


def test_hooks_that_do_not_run_change_nothing(
    conf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installing, "why_not", lambda text: "unexpected symbol")
    with pytest.raises(UsageError, match="do not run in the Lua of this host"):
        installing.install(str(conf), "/srv/spool")
    assert names(conf) == ["slurm.conf"]


def test_hooks_that_slurm_still_needs_stay(conf: Path, tried: None) -> None:
    installing.install(str(conf), "/srv/spool")
    (conf / "slurm.conf").write_text("BurstBufferType=burst_buffer/lua\n")
    with pytest.raises(UsageError, match="slurmctld ends at its next start"):
        installing.take_out(str(conf))
    assert "burst_buffer.lua" in names(conf)


@pytest.mark.parametrize("spool", ["relative", '/a"b', "/a\\b", "/a\nb", ""])
def test_a_spool_that_lua_would_misread_is_refused(
    conf: Path, tried: None, spool: str
) -> None:
    done = run("--slurm-conf", str(conf), "--spool", spool)
    assert done.returncode == 2
    assert names(conf) == ["slurm.conf"]


def test_a_folder_without_slurm_conf_is_refused(tmp_path: Path) -> None:
    done = run("--slurm-conf", str(tmp_path))
    assert done.returncode == 2 and "has no slurm.conf" in done.stderr
    assert names(tmp_path) == []


@needs_lua
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_is_missing_is_found(name: str) -> None:
    text = dry_run_text(hooks_text("/srv/spool"))
    assert lua.why_not(text) == ""
    without = text.replace(f"function slurm_bb_{name}(", f"function renamed_{name}(")
    assert f"no function slurm_bb_{name}" in lua.why_not(without)


@needs_lua
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_fails_when_it_is_called_is_found(name: str) -> None:
    """Loading it shows nothing: a name in it is a slip."""
    text = hooks_text("/srv/spool")
    bad = f"\nslurm_bb_{name} = function() return slipped.name end\n"
    assert "slipped" in lua.why_not(dry_run_text(text + bad))


def test_hooks_of_others_are_not_called(lua_on_path: None, tmp_path: Path) -> None:
    theirs = f'function slurm_bb_pools() io.open("{tmp_path}/called", "w") end'
    assert lua.why_not(dry_run_text(theirs)) == ""
    assert not (tmp_path / "called").exists()


def test_a_slurm_without_all_functions_is_refused_by_name(
    conf: Path, tried: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scontrol").write_text("#!/bin/sh\necho slurm 23.11.4\n")
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UsageError, match=r"slurm 23\.11\.4 has 11 of the 13"):
        installing.install(str(conf), "/srv/spool")
    assert names(conf) == ["slurm.conf"]


def test_the_hooks_start_no_program() -> None:
    text = hooks_text("/srv/spool")
    assert not re.search(r"os\.execute|io\.popen|\bload(string|file)?\(|require", text)


@needs_lua
@pytest.mark.parametrize("bad", ["function (", "error('at its start')"])
def test_lua_that_is_broken_is_found(bad: str) -> None:
    assert lua.why_not(f"{bad}\n{hooks_text('/srv')}") != ""
