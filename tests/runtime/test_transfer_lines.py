"""A job list that names one place many times: in order, and nothing twice in vain."""

from __future__ import annotations

from .job_lists import SCRATCH, Site, do, names, transfer


def test_every_job_of_the_list_is_answered(site: Site) -> None:
    for name in "ab":
        (site.pfs / name).write_text(f"from {name}")
    jobs = [transfer("in", site.pfs / name, f"{SCRATCH}/in") for name in "aaabba"]
    done = do(site, *jobs)
    assert done.returncode == 0, done.stderr
    assert b"6 of 6 jobs" in done.stdout
    assert (site.scratch / "in").read_text() == "from a"
    assert names(site.scratch) == ["in"]


def test_alike_and_without_a_source_each_goes_its_own_way(site: Site) -> None:
    (site.pfs / "second").write_text("there")
    none = site.pfs / "none"
    none.mkdir()
    done = do(
        site,
        transfer("in", [none, site.pfs / "second"], f"{SCRATCH}/in"),
        transfer("in", none / "x", f"{SCRATCH}/in"),
    )
    assert done.returncode == 1 and b"1 of 2 jobs" in done.stdout
