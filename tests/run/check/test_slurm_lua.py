"""What `pegasus-bb check` says of a Slurm with burst_buffer/lua."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.run.check import stager_service
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.slurm.install_hooks import hooks_text
from tests.run.check.site import Site
from tests.support.lua_program import host_lua

__all__ = ["host_lua"]

BURST = """Name=lua DefaultPool=(null) Granularity=1 TotalSpace=0 FreeSpace=0
  PoolName[0]=flash Granularity=1MiB TotalSpace=40GiB FreeSpace=40GiB UsedSpace=0
  Flags=TeardownFailure
  PollInterval=2
"""
POOL = {"name": "flash", "granularity": 1 << 20, "total": 40 << 30, "free": 40 << 30}
ANSWER = json.dumps({"v": 1, "ok": {"buffers": [], "pools": [POOL], "kept": []}})

TROUBLED = json.dumps(
    {"v": 1, "ok": {"pools": [POOL], "trouble": "/var/x: no space left"}}
)


class LuaSite(Site):
    """Its scontrol answers as the four arguments say."""

    def answers(
        self,
        version: str = "slurm 24.11.5",
        burst: str = BURST,
        bbstat: str = ANSWER,
        config: str = "",
    ) -> None:
        self.tool(
            "scontrol",
            f"case \"$*\" in\n--version) echo '{version}' ;;\n"
            f"'show burst') cat <<'E'\n{burst}\nE\n;;\n"
            f"'show config') echo 'SLURM_CONF = {config}' ;;\n"
            f"*bbstat*) cat <<'E'\n{bbstat}\nE\n;;\nesac",
        )


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LuaSite:
    found = LuaSite(tmp_path, monkeypatch)
    found.glite()
    found.tier(backend="slurm-lua", pool="flash")
    usual = Config(str(tmp_path / "state"), str(tmp_path / "sockets"), {}, is_site=True)
    monkeypatch.setattr(stager_service, "_USUAL", usual)
    monkeypatch.setattr(stager_service, "_CONFIG", tmp_path / "stager.json")
    return found


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"version": "slurm 23.11.4"}, "11 of the 13 functions"),
        ({"burst": BURST.replace("lua", "datawarp", 1)}, "is datawarp, not lua"),
        ({"burst": BURST.replace("TeardownFailure", "")}, "Flags=TeardownFailure"),
        ({"burst": ""}, "no burst buffer"),
        ({"bbstat": "Error running slurm_bb_get_status"}, "does not answer"),
        (
            {"bbstat": '{"v":1,"error":{"code":"away","message":"it does not run"}}'},
            "the staging service does not answer: it does not run",
        ),
        ({"bbstat": "current count: 0"}, "pegasus-bb site install"),
        ({"bbstat": TROUBLED}, "Slurm answers, but /var/x: no space left"),
        ({"bbstat": ANSWER.replace("flash", "other")}, "there is no pool flash"),
    ],
)
def test_what_the_site_lacks_is_told(
    lua: LuaSite, answers: dict[str, str], words: str
) -> None:
    lua.answers(**answers)
    assert any(words in found for found in lua.wrong()), lua.wrong()


@pytest.mark.parametrize(
    ("change", "words"),
    [(("\nlocal ", "\nif if local "), "near"), (("is_away()", "nil_()"), "nil_")],
    ids=["at its start", "in a function"],
)
def test_a_file_that_lua_does_not_take_is_named(
    lua: LuaSite,
    host_lua: None,
    tmp_path: Path,
    change: tuple[str, str],
    words: str,
) -> None:
    head, called = hooks_text("/srv").split("function slurm_bb_get_status")
    if change[0] in called:
        text = f"{head}function slurm_bb_get_status{called.replace(*change)}"
    else:
        text = hooks_text("/srv").replace(*change)
    (tmp_path / "burst_buffer.lua").write_text(text)
    lua.answers(config=str(tmp_path / "slurm.conf"))
    (found,) = lua.wrong()
    assert "Lua does not take" in found and words in found
