"""A task of a chain is tried again in its place, if the job's folders are as it has
found them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.job_reservation_site import JobSite
from tests.support.waiting import until

MAKE = "echo 1 > out.txt; echo 1 > sub/more.txt"
# Notes its try, and what it finds.
TASK = """n=$(($(cat {root}/tries 2>/dev/null) + 1)); echo $n > {root}/tries
ls -R . $TMPDIR > {root}/found.$n; cat pfs-out.txt >> {root}/found.$n 2>&1
if [ $n -le {fails} ]; then {fail}; fi; echo good > pfs-out.txt; true"""


@pytest.fixture
def site(tmp_path: Path) -> JobSite:
    found = JobSite(tmp_path, "node-local")
    found.declare(temp="true")
    found.reserve(retry=2, checkpoints=["state"])
    return found


def words(site: JobSite, fail: str, fails: int) -> str:
    """Of a chain with one more task before, and one after the ``TASK``."""
    task = site.root / "task.sh"
    task.write_text(TASK.format(root=site.root, fails=fails, fail=fail))
    launch = f"{site.bb}/bin/launch"
    record = f"{launch} {site.bb}/bin/record -n sh -N J2 -R cori"
    first = f"echo first >> {site.root}/ran; echo made > made.txt"
    first = f'{launch} sh -c "{first}"'
    return f'{first} && {record} sh {task} && {launch} sh -c "{MAKE}"'


def chained(site: JobSite, fail: str, fails: int = 1) -> int:
    """How often the task ran; the chain has ended well, or that of a failed task."""
    done = site.launch(words(site, fail, fails))
    ran = int((site.root / "tries").read_text())
    assert (site.root / "ran").read_text() == "first\n"
    assert site.note["status"] == done.returncode
    told = done.stderr.count(b"launch: J2: try ")
    assert told == ran - 1, done.stderr
    if done.returncode == 0:
        assert f"# pegasus_bb tries: {ran}\n- invocation" in done.stdout.decode()
    assert done.stdout.count(b"- invocation:") == 1
    assert done.stderr.count(b"- invocation:") == ran - 1
    assert list(site.fast.iterdir()) == []
    return ran if done.returncode == 0 else -ran


def found(site: JobSite, number: int) -> str:
    return (site.root / f"found.{number}").read_text()


@pytest.mark.parametrize(
    "leaves",
    [
        "echo half > out.txt",
        "mkdir -p new/deep; echo x > new/deep/file; ln -s . new/deep/link",
        "echo half > sub/more.txt; chmod 500 sub/more.txt",
        "echo half > pfs-out.txt",
        "echo half > other; mv other pfs-out.txt",
        "rm pfs-out.txt pfs-in.txt",
        "mkfifo pipe; head -c 100000 /dev/zero > $TMPDIR/large",
    ],
)
def test_another_try_finds_what_the_first_one_found(site: JobSite, leaves: str) -> None:
    assert chained(site, f"{leaves}; exit 1", fails=2) == 3
    assert found(site, 1) == found(site, 2) == found(site, 3)
    assert (site.scratch / "pfs-out.txt").read_text() == "good\n"
    assert (site.scratch / "pfs-in.txt").read_text() == "on the PFS\n"


@pytest.mark.parametrize(
    "spoils",
    [
        "echo more >> in.txt",
        "rm in.txt",
        "mv made.txt kept.txt",
        "rm -r sub; touch sub",
        "chmod 600 made.txt",
        "touch -r in.txt stamp; echo xxxxx > in.txt; touch -r stamp in.txt",
        "echo more >> pfs-in.txt",
    ],
)
def test_a_task_that_has_spoilt_its_input_is_not_tried_again(
    site: JobSite, spoils: str
) -> None:
    assert chained(site, f"{spoils}; exit 1") == -1


def test_a_link_in_place_of_the_folder_loses_nothing_behind_it(site: JobSite) -> None:
    mine = site.root / "mine"
    mine.mkdir()
    (mine / "precious").write_text("data\n")
    swap = f'P=$PWD; cd ..; mv "$P" "$P.old"; ln -s {mine} "$P"; exit 1'
    done = site.launch(words(site, swap, 1))
    assert done.returncode == 1
    assert (site.root / "tries").read_text() == "1\n"
    assert [path.name for path in mine.iterdir()] == ["precious"]
    assert done.stdout.count(b"- invocation:") == 1


def test_a_task_that_removes_its_folder_leaves_its_record(site: JobSite) -> None:
    words_of_it = 'rm -r "$PWD"; echo the disk is full >&2; exit 4'
    done = site.launch(words(site, words_of_it, 9))
    assert done.returncode == 4
    assert done.stdout.count(b"- invocation:") == 1
    assert b"the disk is full" in done.stdout


def test_a_process_that_a_failed_try_has_left_writes_to_no_other_try(
    site: JobSite,
) -> None:
    late = "(sleep 3; echo bad > pfs-out.txt) > /dev/null 2>&1 & exit 1"
    done = site.launch(words(site, late, 9))
    assert done.returncode == 1
    assert (site.root / "tries").read_text() == "1\n"
    assert b"of a failed try runs on" in done.stderr


@pytest.mark.parametrize("end", ["exit 126", "exit 127"])
def test_what_did_not_start_is_not_tried_again(site: JobSite, end: str) -> None:
    assert chained(site, end) == -1


@pytest.mark.parametrize("end", ["kill -9 $$", "kill -TERM $$", "exit 137"])
def test_what_a_signal_ended_is_not_tried_again(site: JobSite, end: str) -> None:
    assert chained(site, end) == -1


def test_a_task_that_fails_for_ever_ends_the_chain_with_its_status(
    site: JobSite,
) -> None:
    assert chained(site, "exit 3", fails=9) == -3
    assert site.note["status"] == 3


def test_a_checkpoint_is_for_the_next_try(site: JobSite) -> None:
    assert chained(site, "echo 1 >> state; exit 1", fails=2) == 3
    assert "state" not in found(site, 1).split()
    assert "state" in found(site, 2).split()


def test_a_signal_to_the_job_in_the_second_try_ends_it(site: JobSite) -> None:
    waits = "while :; do sleep 0.05; done"
    ends = f"trap 'exit 1' TERM; [ $n = 2 ] && touch {site.root}/second && {waits}"
    process = site.start(words(site, f"{ends}; exit 1", 9))
    until((site.root / "second").exists)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode
    assert (site.root / "tries").read_text() == "2\n"
    assert "# pegasus_bb tries: 2\n- invocation" in out
    assert err.count("it is tried again in its place") == 1
    assert list(site.fast.iterdir()) == []
