"""A result that is not safe any more when bb_delete looks: run again saves it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Site, expected

FIRST, LAST = "d.dat", "e.dat"


def kept(
    site: Site,
    what_happens: str,
    *more: str,
    between: Callable[[Path], object] = str,
) -> subprocess.CompletedProcess:
    """A run whose results were changed before bb_delete, once, by way of sh;
    run again, after ``between`` was done to its submit directory."""
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0", *more)
    delete = folder / "bb" / "bin" / "delete"
    real = delete.with_name("delete.real")
    delete.rename(real)
    delete.write_text(
        f"#!/bin/sh\n[ -e {site.root}/once ] || {{ : > {site.root}/once; "
        f'{what_happens}; }}\nexec {real} --bb {folder}/bb "$@"\n'
    )
    delete.chmod(0o755)
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
def test_it_is_staged_out_again(site: Site, what: str) -> None:
    manifest = site.submit_dir("bb") / "bb" / "manifest.jsonl"
    lost = result(site) if what == "removed" else manifest
    done = kept(site, f"rm {lost}", "--cleanup", "none")
    assert done.returncode == 0, done.stderr
    assert "to run again: stage_out_" in done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.sweep
def test_a_rescue_file_that_calls_bb_delete_done_is_not_believed(site: Site) -> None:
    def edit(folder: Path) -> None:
        newest = max(folder.glob("*.dag.rescue*"))
        newest.write_text(newest.read_text() + "DONE bb_delete_BB0000002\n")

    done = kept(site, f"rm {result(site)}", "--cleanup", "none", between=edit)
    assert done.returncode == 0, done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.sweep
@pytest.mark.parametrize("cleanup", ["inplace", "leaf"])
def test_also_where_clean_up_kept_the_last_copy(site: Site, cleanup: str) -> None:
    folder = site.planned(
        "bb", "--bb-mode", "persistent", "-Ddagman.retry=0", "--cleanup", cleanup
    )
    program = folder / "bb" / "bin" / "transfer"
    real = program.with_name("transfer.real")
    program.rename(real)
    program.write_text(
        f"#!/bin/sh\n[ -e {site.root}/once ] || [ ! -e {result(site)} ] || "
        f'{{ : > {site.root}/once; rm {result(site)}; }}\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    assert site.run("bb").returncode == 80
    done = site.run("bb")
    assert done.returncode == 0, done.stderr
    assert site.content("bb") == expected()


def test_an_edit_is_kept_beside_it(site: Site) -> None:
    done = kept(site, f"echo mine >> {result(site)}", "--cleanup", "none")
    assert done.returncode == 0, done.stderr
    (edited,) = result(site).parent.glob(f"{FIRST}.kept-*")
    assert str(edited) in done.stderr
    assert edited.read_bytes() == expected()[FIRST] + b"mine\n"
    assert result(site).read_bytes() == expected()[FIRST]
    assert site.reservations() == []


def test_where_the_buffer_has_it_no_more_nothing_is_run_again(site: Site) -> None:
    done = kept(site, f"echo mine >> {result(site)}", "--cleanup", "leaf")
    assert done.returncode == 80
    assert (
        "none of them is in"
        in (site.submit_dir("bb") / "00/00/bb_delete_BB0000002.out.001").read_text()
    )
    assert result(site).read_bytes() == expected()[FIRST] + b"mine\n"
