"""A tier with streams: copies and outputs carry hints, and nothing else changes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from pegasus_bb.model.placement import HINTS
from pegasus_bb.runtime.staging.hints import hint_of
from tests.stager.conftest import daemon
from tests.support.kept_hints import keeps_hints
from tests.support.user_site import Site
from tests.support.waiting import until

__all__ = ["daemon", "keeps_hints"]


def explained(site: Site, *more: str) -> dict[str, int]:
    """LFN -> the hint of the stream that explain names."""
    words = ("--sites", "cluster", "--output-sites", "local", *more, "workflow.yml")
    done = site.bb("explain", "--json", *words, check=True)
    return {f["lfn"]: HINTS[f["stream"]] for f in json.loads(done.stdout)["files"]}


def while_the_last_task_runs(site: Site, run: str) -> dict[str, int]:
    """LFN -> the hint that the file system keeps of it."""
    begun = site.slow(300, result="e.dat")
    engine = site.start_run(run)
    until(begun.exists)
    found = {}
    for path in site.tier_path.rglob("*"):
        if path.is_file() and path.suffix in (".txt", ".dat"):
            found[path.name] = hint_of(str(path))
    engine.send_signal(signal.SIGTERM)
    engine.wait()
    return found


def wants_hints(site: Site) -> None:
    with site.edited("transformations.yml") as data:
        data["transformations"][0]["profiles"] = {"pegasus": {"bb.hints": "on"}}


def test_outputs_have_it_where_the_program_lets_them_be_made(site: Site) -> None:
    """In a pool as well, to which a link leads."""
    site.declare(streams="lifetime", pools=[{"name": "p", "path": "p"}])
    wants_hints(site)
    site.planned("bb", "--bb-mode", "persistent", "--cleanup", "none")
    wanted = explained(site, "--cleanup", "none")
    found = while_the_last_task_runs(site, "bb")
    assert found == {Path(lfn).name: hint for lfn, hint in wanted.items()}


def test_an_output_that_no_task_wrote_is_no_result(site: Site) -> None:
    """The empty file that was made for it must not be staged out in its place."""
    site.declare(streams="user")
    wants_hints(site)
    task = site.root / "mix.py"
    task.write_text(
        task.read_text().replace("with open", "if out != 'd.dat':\n  with open")
    )
    task.write_text(task.read_text().replace("    result.write", "      result.write"))
    site.planned("bb", "--bb-mode", "persistent")
    done = site.run("bb")
    assert done.returncode != 0
    assert "d.dat" not in site.content("bb")
    kept = site.bb("release", site.request("bb")["name"])
    assert kept.returncode == 79
