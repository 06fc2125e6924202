"""A result that is not safe any more when bb_delete looks: run again saves it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.user_site import Site, done_well, expected

FIRST = "d.dat"
PLANNED = ("--bb-mode", "persistent", "-Ddagman.retry=0", "--cleanup")


def before(program: Path, happens: str, *words: str) -> None:
    """Puts a script of sh in front of ``program``, which gets ``words`` first."""
    real = program.rename(program.with_name(f"{program.name}.real"))
    program.write_text(f'#!/bin/sh\n{happens}\nexec {real} {" ".join(words)} "$@"\n')
    program.chmod(0o755)


def kept(site: Site, what_happens: str) -> subprocess.CompletedProcess:
    """A run whose results were changed before bb_delete, once, by way of sh;
    run again."""
    folder = site.planned("bb", *PLANNED, "none")
    once = f"[ -e {site.root}/once ] || {{ : > {site.root}/once; {what_happens}; }}"
    before(folder / "bb" / "bin" / "delete", once, f"--bb {folder}/bb")
    done = site.run("bb")
    assert done.returncode == 80 and "79" in done.stderr, done.stderr
    assert site.reservations() != []
    return site.run("bb")


def result(site: Site) -> Path:
    return site.results("bb") / FIRST


def test_a_result_that_is_not_safe_is_staged_out_again(site: Site) -> None:
    done = kept(site, f"rm {result(site)}")
    assert done_well(done)
    assert "to run again: stage_out_" in done.stderr
    site.has_all_results("bb")


@pytest.mark.sweep
def test_the_last_copy_that_clean_up_kept_is_staged_out_again(site: Site) -> None:
    folder = site.planned("bb", *PLANNED, "inplace")
    there = f"[ -e {site.root}/once ] || [ ! -e {result(site)} ]"
    once = f"{there} || {{ : > {site.root}/once; rm {result(site)}; }}"
    before(folder / "bb" / "bin" / "transfer", once)
    site.fails("bb")
    site.finishes("bb")


def test_a_users_edit_of_a_result_is_kept_beside_it(site: Site) -> None:
    done = kept(site, f"echo mine >> {result(site)}")
    assert done_well(done)
    (edited,) = result(site).parent.glob(f"{FIRST}.kept-*")
    assert str(edited) in done.stderr
    assert edited.read_bytes() == expected()[FIRST] + b"mine\n"
    assert result(site).read_bytes() == expected()[FIRST]
    assert site.reservations() == []


def test_an_edit_of_which_the_tier_has_no_copy_is_accepted_or_nothing(
    site: Site,
) -> None:
    """The clean-ups have removed it; the last one finds the edit, before bb_delete."""
    folder = site.planned("bb", *PLANNED, "inplace")
    edit = f"echo mine >> {result(site)}"
    last = f"case $PEGASUS_DAG_JOB_ID in cleanup_*) {edit};; esac"
    before(folder / "bb" / "bin" / "transfer", last)
    done = site.run("bb")
    (name,) = site.reservations()
    assert "results were changed since; the tier has no copy any more" in done.stderr
    assert f"to accept:   pegasus-bb release {name} --discard" in done.stderr
    site.bb("release", name, "--discard", check=True)
    assert site.reservations() == []
    assert result(site).read_bytes().endswith(b"mine\n")
    told = site.bb("status", str(folder)).stdout
    assert "to keep them as they are, nothing is left to do" in told
    assert "pegasus-bb run continues" not in told
