"""A file that is lost on the tier: the node that makes it runs again, when told to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.user_site import Site

from .test_unsafe_again import before


def failed(site: Site, lost: str) -> Path:
    """A run in which D has failed, and ``lost`` has vanished from the tier since."""
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    site.trouble.write_text("d.dat")
    site.fails("bb")
    site.trouble.unlink()
    (file,) = site.tier_path.rglob(lost)
    file.unlink()
    return folder


def test_the_maker_of_a_lost_input_runs_again_with_remake(site: Site) -> None:
    folder = failed(site, "c.dat")
    for _ in range(2):  # as often as it is tried
        done = site.run("bb")
        assert done.returncode == 80
        assert (
            "sub/c.dat, which mix_D reads, is not on the tier any more" in done.stderr
        )
        assert f"pegasus-bb run --remake {folder}" in done.stderr
    done = site.bb("run", "--remake", str(folder), check=True)
    assert "inputs of failed nodes are lost; to run again: " in done.stderr
    site.has_all_results("bb")


@pytest.mark.parametrize("found_by", ["bb_delete", "the last clean-up"])
def test_a_result_that_is_nowhere_any_more_is_made_again(
    site: Site, found_by: str
) -> None:
    """It was removed from its destination when its scratch copy had been cleaned up."""
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    once = site.root / "once"
    result = site.results("bb") / "e.dat"
    removed = f"[ -e {once} ] || rm {result}; : > {once}"
    if found_by == "bb_delete":
        before(folder / "bb" / "bin" / "delete", removed, f"--bb {folder}/bb")
    else:
        job = f"case $PEGASUS_DAG_JOB_ID in cleanup_*) {removed};; esac"
        before(folder / "bb" / "bin" / "transfer", job)
    done = site.run("bb")
    assert "e.dat is neither at its destination nor on the tier; mix_E" in done.stderr
    assert f"to continue: pegasus-bb run --remake {folder}" in done.stderr
    done = site.bb("run", "--remake", str(folder), check=True)
    site.has_all_results("bb")


def test_the_next_run_knows_both_ways_on_from_what_was_never_made(site: Site) -> None:
    task = site.root / "mix.py"
    first, rest = task.read_text().split("\n", 1)
    makes_nothing = "import sys\nif sys.argv[1] == 'd.dat': sys.exit(0)"
    task.write_text(f"{first}\n{makes_nothing}\n{rest}")
    site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    site.run("bb")
    said = site.run("bb").stderr
    assert "to make it again: pegasus-bb run --remake" in said
    assert "if the workflow has a wrong name: mend it and plan again" in said


@pytest.mark.parametrize("mode", ["persistent", "off"])
def test_a_scratch_folder_that_was_removed_is_made_with_what_is_missing(
    site: Site, mode: str
) -> None:
    folder = site.planned("bb", "--bb-mode", mode, "-Ddagman.retry=0")
    site.trouble.write_text("d.dat")
    site.fails("bb")
    site.trouble.unlink()
    (made,) = site.root.rglob(".pegasus_bb_scratch")
    shutil.rmtree(made.parent)
    assert f"pegasus-bb run --remake {folder}" in site.run("bb").stderr
    site.bb("run", "--remake", str(folder), check=True)
    site.has_all_results("bb")
