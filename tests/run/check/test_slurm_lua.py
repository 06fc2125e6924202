"""What `pegasus-bb check` says of a Slurm with burst_buffer/lua."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.run.check import slurm_lua_setup, stager_service
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.slurm.hooks import FUNCTIONS, hooks_text
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
        self.program(
            "scontrol",
            f"case \"$*\" in\n--version) echo '{version}' ;;\n"
            f"'show burst') cat <<'E'\n{burst}\nE\n;;\n"
            f"'show config') echo 'SLURM_CONF = {config}' ;;\n"
            f"*bbstat*) cat <<'E'\n{bbstat}\nE\n;;\nesac",
        )

    def lua_tier(self) -> None:
        def change(sites: dict[str, Any]) -> None:
            (tier,) = sites["x-storage-tiers"]["cori"]
            tier.pop("path")
            tier.update(backend="slurm-lua", pool="flash")

        self.edit("sites.yml", change)


@pytest.fixture
def lua(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Site) -> LuaSite:
    found = LuaSite.__new__(LuaSite)
    found.__dict__.update(site.__dict__)
    found.glite()
    found.lua_tier()
    usual = Config(str(tmp_path / "state"), str(tmp_path / "sockets"), {}, is_site=True)
    monkeypatch.setattr(stager_service, "_USUAL", usual)
    monkeypatch.setattr(stager_service, "_CONFIG", tmp_path / "stager.json")
    return found


def test_a_site_that_serves_users_is_fine(lua: LuaSite) -> None:
    lua.answers()
    assert lua.wrong() == []


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


def test_the_row_of_a_job_that_has_ended_is_noted(
    lua: LuaSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm has killed its teardown, and counts its space until it is started again."""
    row = (
        "    JobID={} CreateTime=2026-11-20T18:52:45 Pool=flash Size={} State=teardown"
    )
    rows = [row.format(*each) for each in ((7, "1GiB"), (8, "2GiB"), (9, "4GiB"))]
    lua.answers(burst="\n".join([BURST + "  Allocated Buffers:", *rows]))
    lua.program("squeue", "echo '7 CANCELLED'; echo '8 STAGE_OUT'")

    def noted() -> list[str]:
        return [f.what for f in lua.check() if "that have ended" in f.what]

    for uid, words in (
        (0, "5.0 GiB of jobs that have ended: 7, 9;"),
        (1000, "1.0 GiB"),
    ):
        monkeypatch.setattr(os, "getuid", lambda uid=uid: uid)
        [found] = noted()
        assert words in found
    lua.program("squeue", "exit 1")
    assert noted() == []


def test_a_function_that_is_missing_is_named(lua: LuaSite, tmp_path: Path) -> None:
    text = hooks_text("/srv/spool")
    for name in FUNCTIONS[:2]:
        text = text.replace(f"slurm_bb_{name}(", "renamed(")
    (tmp_path / "burst_buffer.lua").write_text(text)
    lua.answers(config=str(tmp_path / "slurm.conf"))
    (found,) = lua.wrong()
    assert f"has no slurm_bb_{FUNCTIONS[0]}, slurm_bb_{FUNCTIONS[1]}:" in found


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


def test_hooks_that_cannot_be_tried_here_are_named(
    lua: LuaSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_lua(text: str) -> str:
        raise UsageError("this host has no Lua")

    monkeypatch.setattr(slurm_lua_setup, "why_not", no_lua)
    (tmp_path / "burst_buffer.lua").write_text(hooks_text("/srv"))
    lua.answers(config=str(tmp_path / "slurm.conf"))
    assert lua.wrong() == []
    said = [finding.what for finding in lua.check()]
    assert any("burst_buffer.lua is not tried" in what for what in said)


def test_a_socket_that_is_missing_is_named(lua: LuaSite, tmp_path: Path) -> None:
    (tmp_path / "sockets").mkdir()
    (tmp_path / "sockets" / "control").touch(0o600)
    lua.answers()
    (found,) = lua.wrong()
    assert f"{tmp_path}/sockets/user: No such file" in found


@pytest.mark.parametrize(
    ("of_pool", "of_tier", "mend"),
    [(1 << 30, 4 << 20, "1024MiB"), (1 << 20, 1 << 30, "1MiB"), (1000, 4096, "1000")],
    ids=["larger", "smaller", "odd"],
)
def test_a_pool_with_other_granules_than_the_tier_says_is_noted(
    lua: LuaSite, of_pool: int, of_tier: int, mend: str
) -> None:
    def change(sites: dict[str, Any]) -> None:
        (tier,) = sites["x-storage-tiers"]["cori"]
        tier["granularity"] = str(of_tier)

    lua.edit("sites.yml", change)
    answer = {"v": 1, "ok": {"pools": [{**POOL, "granularity": of_pool}]}}
    lua.answers(bbstat=json.dumps(answer))
    assert lua.wrong() == []
    [found] = [f for f in lua.check() if "in granules of" in f.what]
    assert "is reserved" in found.what
    assert f"granularity: {mend} in the tier" in found.would_do


def test_a_service_on_another_host_is_no_mistake(lua: LuaSite, tmp_path: Path) -> None:
    lua.answers()
    assert lua.wrong() == []
    said = [finding.what for finding in lua.check()]
    assert any("right if slurmctld has another host" in what for what in said)


def test_sockets_that_are_open_to_others_are_named(
    lua: LuaSite, tmp_path: Path
) -> None:
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    (sockets / "user").touch(0o666)
    (sockets / "user").chmod(0o666)
    (sockets / "control").touch()
    (sockets / "control").chmod(0o666)
    lua.answers()
    (found,) = lua.wrong()
    assert "control has mode 0666, not 0600" in found


@pytest.mark.parametrize("is_named", [False, True], ids=["usual", "of the tier"])
def test_a_socket_that_lets_no_user_in_is_named_also_for_its_owner(
    lua: LuaSite, tmp_path: Path, is_named: bool
) -> None:
    def change(sites: dict[str, Any]) -> None:
        (tier,) = sites["x-storage-tiers"]["cori"]
        tier["service"] = str(tmp_path / "sockets")

    (tmp_path / "sockets").mkdir()
    for name in ("user", "control"):
        (tmp_path / "sockets" / name).touch(0o600)
    if is_named:
        lua.edit("sites.yml", change)
    lua.answers()
    assert any("user has mode 0600, not 0666" in found for found in lua.wrong())


@pytest.mark.parametrize("is_said", [False, True], ids=["default", "configured"])
def test_damaged_records_of_the_service_are_named(
    lua: LuaSite, tmp_path: Path, is_said: bool
) -> None:
    state = tmp_path / "state"
    if is_said:
        state = tmp_path / "elsewhere"
        said = {"state": str(state), "dataspaces": {"lustre": {"path": "/lus"}}}
        (tmp_path / "stager.json").write_text(json.dumps(said))
    whole = {"number": 8, "uid": 1, "gid": 1, "state": "running"}
    texts = {
        "buffers.json": "{}",
        "jobs/7.json": '{"number": 7',
        "jobs/8.json": json.dumps(whole),
        "nodes/job.7.1.json": "",
    }
    for name, text in texts.items():
        (state / name).parent.mkdir(0o700, parents=True, exist_ok=True)
        (state / name).write_text(text)
    lua.answers()
    found = lua.wrong()
    assert len(found) == 3
    for name in set(texts) - {"jobs/8.json"}:
        assert any(f"{state / name} is damaged" in what for what in found)


def test_hooks_that_slurmuser_cannot_read_are_named(
    lua: LuaSite, tmp_path: Path
) -> None:
    hooks = tmp_path / "burst_buffer.lua"
    hooks.write_text(hooks_text("/srv"))
    hooks.chmod(0o600)
    lua.answers(config=f"{tmp_path}/slurm.conf\nSlurmUser = slurm(64030)")
    (found,) = lua.wrong()
    assert f"{hooks} has mode 0600: SlurmUser cannot read it" in found


def test_a_coarse_granularity_is_the_mistake_and_not_the_capacity(
    lua: LuaSite,
) -> None:
    lua.tier(granularity="1TiB")
    lua.answers()
    (found,) = lua.wrong()
    assert "in granules of 1.0 MiB; the tier asks for granules of 1.0 TiB" in found
    [mend] = [f.would_do for f in lua.check() if f.what in found]
    assert mend == "granularity: 1MiB in the tier"


@pytest.mark.parametrize(
    ("folder", "mode", "words"),
    [
        ("state", 0o777, "others may write to it"),
        ("sockets", 0o777, "others may write to it"),
        ("bb", 0o775, "others may write to it"),
        ("spool", 0o755, "has mode 0755"),
        ("spool/jobs", 0o770, "has mode 0770"),
    ],
)
def test_folders_with_wrong_modes_are_named(
    lua: LuaSite, tmp_path: Path, folder: str, mode: int, words: str
) -> None:
    modes = {"state": 0o711, "sockets": 0o755, "bb": 0o755}
    for name, right in {**modes, "spool": 0o700, "spool/jobs": 0o700}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(right)
    for name, right in (("user", 0o666), ("control", 0o600)):
        (tmp_path / "sockets" / name).touch()
        (tmp_path / "sockets" / name).chmod(right)
    pool = {"path": str(tmp_path / "bb"), "capacity": "40GiB"}
    spool = str(tmp_path / "spool")
    user = pwd.getpwuid(os.getuid()).pw_name
    config = {
        "dataspaces": {"lustre": {"path": "/lus"}},
        "state": str(tmp_path / "state"),
        "sockets": str(tmp_path / "sockets"),
        "slurm": {"user": user, "spool": spool, "pools": {"flash": pool}},
    }
    (tmp_path / "stager.json").write_text(json.dumps(config))
    lua.answers()
    assert lua.wrong() == []
    (tmp_path / folder).chmod(mode)
    (found,) = lua.wrong()
    assert str(tmp_path / folder) in found and words in found


def test_a_folder_of_sockets_that_users_cannot_enter_is_named(
    lua: LuaSite, tmp_path: Path
) -> None:
    (tmp_path / "sockets").mkdir(0o700)
    lua.answers()
    (found,) = lua.wrong()
    assert f"{tmp_path}/sockets is closed to users" in found
