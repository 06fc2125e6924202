"""A job list that names one place many times: in order, and nothing twice in vain."""

from __future__ import annotations

from pegasus_bb.runtime.transfers.jobs import Transfer, parse_url
from pegasus_bb.runtime.transfers.lines import Lines
from pegasus_bb.runtime.transfers.ways import Try, Way, ways_of

from .job_lists import SCRATCH, Site, do, names, transfer


def way(
    source: str, dest: str = "/dest", lfn: str = "f", executable: bool = False
) -> Way:
    come, go = parse_url(source), parse_url(dest)
    job = Transfer(lfn, (come,), (go,), executable, {})
    return Way(Try(job, ways_of(job)), source, dest, dest, promised=False)


def test_the_same_copy_many_times_is_one() -> None:
    lines = Lines()
    for _ in range(600):
        lines.add("/dest", way("/a"))
    assert [len(alike) for alike in lines.pop()] == [600]
    assert not lines


def test_the_order_of_what_differs_stays() -> None:
    lines = Lines()
    for source in "aabba":
        lines.add("/dest", way(f"/{source}"))
    lines.add("/other", way("/a", "/other"))
    assert [len(alike) for alike in lines.pop()] == [2, 1]
    left = [lines.pop(), lines.pop()]
    assert [[each.source for each in alike] for (alike,) in left] == [
        ["/b", "/b"],
        ["/a"],
    ]
    assert not lines


def test_each_logical_name_has_its_own_line_in_the_manifest() -> None:
    lines = Lines()
    for lfn in ("one", "two"):
        lines.add("/dest", way("/a", lfn=lfn))
    assert [len(alike) for alike in lines.pop()] == [1]
    assert lines


def test_a_program_is_not_the_same_as_a_file_of_its_content() -> None:
    lines = Lines()
    for executable in (False, True):
        lines.add("/dest", way("/a", executable=executable))
    assert [len(alike) for alike in lines.pop()] == [1]
    assert lines


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
