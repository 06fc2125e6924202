"""A result that is not safe any more when bb_delete looks: run again saves it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.user_site import Site, expected

FIRST = "d.dat"
PLANNED = ("--bb-mode", "persistent", "-Ddagman.retry=0", "--cleanup")


def before(program: Path, happens: str, *words: str) -> None:
    """Puts a script of sh in front of ``program``, which gets ``words`` first."""
    real = program.rename(program.with_name(f"{program.name}.real"))
    program.write_text(f'#!/bin/sh\n{happens}\nexec {real} {" ".join(words)} "$@"\n')
    program.chmod(0o755)


def kept(
    site: Site,
    what_happens: str,
    cleanup: str,
    between: Callable[[Path], object] = str,
) -> subprocess.CompletedProcess:
    """A run whose results were changed before bb_delete, once, by way of sh;
    run again, after ``between`` was done to its submit directory."""
    folder = site.planned("bb", *PLANNED, cleanup)
    once = f"[ -e {site.root}/once ] || {{ : > {site.root}/once; {what_happens}; }}"
    before(folder / "bb" / "bin" / "delete", once, f"--bb {folder}/bb")
    done = site.run("bb")
    assert done.returncode == 80 and "79" in done.stderr, done.stderr
    assert site.reservations() != []
    between(folder)
    return site.run("bb")


def result(site: Site) -> Path:
    return site.results("bb") / FIRST


@pytest.mark.parametrize(
    "what", ["removed", pytest.param("manifest lost", marks=pytest.mark.sweep)]
)
def test_a_result_that_is_not_safe_is_staged_out_again(site: Site, what: str) -> None:
    manifest = site.submit_dir("bb") / "bb" / "manifest.jsonl"
    lost = result(site) if what == "removed" else manifest
    done = kept(site, f"rm {lost}", "none")
    assert done.returncode == 0, done.stderr
    assert "to run again: stage_out_" in done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.sweep
def test_a_rescue_file_that_calls_bb_delete_done_is_not_believed(site: Site) -> None:
    def edit(folder: Path) -> None:
        newest = max(folder.glob("*.dag.rescue*"))
        newest.write_text(newest.read_text() + "DONE bb_delete_BB0000002\n")

    done = kept(site, f"rm {result(site)}", "none", between=edit)
    assert done.returncode == 0, done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    "cleanup", ["inplace", pytest.param("leaf", marks=pytest.mark.sweep)]
)
def test_the_last_copy_that_clean_up_kept_is_staged_out_again(
    site: Site, cleanup: str
) -> None:
    folder = site.planned("bb", *PLANNED, cleanup)
    there = f"[ -e {site.root}/once ] || [ ! -e {result(site)} ]"
    once = f"{there} || {{ : > {site.root}/once; rm {result(site)}; }}"
    before(folder / "bb" / "bin" / "transfer", once)
    assert site.run("bb").returncode == 80
    done = site.run("bb")
    assert done.returncode == 0, done.stderr
    assert site.content("bb") == expected()


def test_a_users_edit_of_a_result_is_kept_beside_it(site: Site) -> None:
    done = kept(site, f"echo mine >> {result(site)}", "none")
    assert done.returncode == 0, done.stderr
    (edited,) = result(site).parent.glob(f"{FIRST}.kept-*")
    assert str(edited) in done.stderr
    assert edited.read_bytes() == expected()[FIRST] + b"mine\n"
    assert result(site).read_bytes() == expected()[FIRST]
    assert site.reservations() == []
