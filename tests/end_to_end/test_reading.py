"""A command that reads changes nothing: no grant, no lock, no note."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.support.user_site import Site

HELD = ("--bb-mode", "persistent", "--cleanup", "leaf", "--bb-capacity", "6MiB")


def tree(*roots: Path) -> dict[str, object]:
    """Everything below ``roots``: its kind, mode, time and contents."""
    found: dict[str, object] = {}
    for root in roots:
        for path in [root, *root.rglob("*")]:
            now = path.lstat()
            data = path.read_bytes() if path.is_file() else os.fspath(path)
            found[str(path)] = now.st_mode, now.st_mtime_ns, now.st_ino, data
    return found


def program(site: Site, run: str, name: str) -> int:
    command = [site.submit_dir(run) / "bb" / "bin" / name]
    return subprocess.run(command, env=site.environ(), capture_output=True).returncode


def state_of(site: Site, run: str) -> str:
    name = site.request(run)["name"]
    rows = json.loads(site.bb("ls", "--json", check=True).stdout)
    return str(next(row["state"] for row in rows if row["name"] == name))


def test_commands_that_read_change_nothing_whatever_quotas_the_plans_had(
    site: Site,
) -> None:
    site.declare(quota=None)
    with site.edited("sites.yml") as sites:
        del sites["x-storage-tiers"]["cluster"][0]["quota"]
    site.planned("a", *HELD)
    assert site.run("a").returncode == 0
    site.planned("d", *HELD)
    site.declare(quota="8MiB")
    site.planned("b", *HELD)
    site.trouble.write_text("e.dat")
    site.fails("b")
    site.planned("c", *HELD)
    assert program(site, "c", "setup") == 0
    assert program(site, "d", "setup") == 0  # without a quota: it keeps that of b and c

    everything = site.root / "fast", site.root / "submit", site.root / "ledger.jsonl"
    before = tree(*everything)
    plan = ("--sites", "cluster", "--output-sites", "local", *HELD, "workflow.yml")
    for command in (
        ("ls",),
        ("ls", "--all"),
        ("gc",),
        *(("status", str(site.submit_dir(run))) for run in "abcd"),
        ("report", str(site.submit_dir("a"))),
        ("check", *plan),
        ("explain", *plan),
        ("plan", "--dry-run", *plan),
    ):
        done = site.bb(*command)
        assert "Traceback" not in done.stderr, done.stderr
        assert tree(*everything) == before, command
    assert [state_of(site, run) for run in "bcd"] == ["ready", "pending", "pending"]
    assert program(site, "c", "gate") == 75 == program(site, "d", "gate")

    site.bb("release", site.request("b")["name"], "--discard", check=True)
    assert [state_of(site, run) for run in "cd"] == ["ready", "pending"]
    assert program(site, "c", "gate") == 0
