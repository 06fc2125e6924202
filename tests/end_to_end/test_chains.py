"""Jobs that feed only each other stay on their node, and give the same results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.report.records import read_records
from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site, done_well, expected, killed_when
from tests.support.waiting import until

CHAIN = "merge_mix_chain1_ID1"  # of D and E
EMPTY = """
assert os.listdir(os.environ["TMPDIR"]) == [], "what another task has left"
open(os.environ["TMPDIR"] + "/left", "w").close()
"""
# Notes each run of a task, and what it finds in its folder.
NOTED = """
import os, sys
found = sorted(os.listdir()) + os.listdir(os.environ["TMPDIR"])
with open({ran!r}, "a") as ran:
    print(sys.argv[1], *found, file=ran)
"""
RESULT = {"e.dat": expected()["e.dat"]}


@pytest.fixture(autouse=True)
def disk(site: Site) -> Path:
    """Every node has one; what D makes for E is no result."""
    folder = site.has_disks(mount="any", temp=True)
    with site.edited("workflow.yml") as workflow:
        for use in (use for job in workflow["jobs"] for use in job["uses"]):
            use.update(stageOut=False) if use["lfn"] == "d.dat" else None
    return folder


def planned(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def takes(site: Site, seconds: int) -> None:
    with site.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            job["profiles"] = {"pegasus": {"runtime": str(seconds)}}


def node(folder: Path, name: str = CHAIN) -> dict[str, Any]:
    """Of the plan."""
    note = json.loads((folder / f"bb/nodes/{name}.json").read_text())
    return dict(note["reservation"])


def note(folder: Path, name: str = CHAIN) -> dict[str, Any]:
    """Of the run."""
    return dict(json.loads((folder / f"bb/stage_out/{name}.json").read_text()))


@pytest.mark.parametrize("data", ["sharedfs", "condorio"])
def test_a_file_within_a_chain_never_leaves_its_node(
    site: Site, disk: Path, data: str
) -> None:
    site.configure(data)
    task = site.root / "mix.py"
    task.write_text(task.read_text() + EMPTY)
    folder = planned(site, "run", "--bb-chains", "auto")
    assert (node(folder)["stay"], node(folder)["stage_out"]) == (["d.dat"], ["e.dat"])
    site.finishes("run", RESULT)
    assert list(note(folder)["files"]) == ["e.dat"]
    assert read_run(folder).stayed == len(expected()["d.dat"])
    (file,) = folder.glob(f"*/*/{CHAIN}.out.*")
    records = [record.data for record in read_records(file)]
    assert [one["derivation"] for one in records] == ["D", "E"]
    (place,) = {one["cwd"] for one in records}
    assert place.startswith(f"{disk}/")
    assert list(disk.iterdir()) == []


def noted(site: Site, *, once: bool = False) -> Path:
    """The file with the runs of tasks; the one that fails does so ``once``."""
    ran = site.root / "ran"
    task = site.root / "mix.py"
    line, rest = task.read_text().split("\n", 1)
    if once:
        half = 'open(out, "wb").write(b"half a res")'
        trace = "open('trace', 'w'); open(os.environ['TMPDIR'] + '/trace', 'w')"
        rest = rest.replace(half, f"{half}; {trace}; os.unlink(trouble)")
    task.write_text(f"{line}\n{NOTED.format(ran=str(ran))}{rest}")
    return ran


@pytest.mark.parametrize("data", ["sharedfs", "condorio"])
def test_a_failed_task_of_a_chain_is_tried_again_in_its_place(
    site: Site, disk: Path, data: str
) -> None:
    """It finds what it found at first, and the chain is one try of its node."""
    site.configure(data)
    ran = noted(site, once=True)
    site.trouble.write_text("e.dat")
    folder = planned(site, "run", "--bb-chains", "auto")
    assert node(folder)["retry"] == 1
    site.finishes("run", RESULT)
    *_, made, first, second = ran.read_text().splitlines()
    assert (made.split()[0], first, second) == ("d.dat", first, first)
    assert "e.dat" not in first.split()[1:]
    (out,) = folder.glob(f"*/*/{CHAIN}.out.*")
    assert [record.tries for record in read_records(out)] == [1, 2]
    (err,) = folder.glob(f"*/*/{CHAIN}.err.*")
    (failed,) = read_records(err)
    assert failed.data is not None
    assert failed.data["derivation"] == "E"
    assert failed.data["mainjob"]["status"]["regular_exitcode"] == 1
    assert "launch: E: try 1 ended with 1; it is tried again in its" in err.read_text()
    run = read_run(folder)
    assert (run.retries, [t.retry for t in run.tasks if t.job in ("D", "E")]) == (
        1,
        [0, 1],
    )
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize(("retry", "runs"), [(0, 1), (1, 4), (2, 9)])
def test_a_task_of_a_chain_that_fails_for_ever_has_its_tries_at_each_of_its_node(
    site: Site, retry: int, runs: int
) -> None:
    ran = noted(site)
    site.trouble.write_text("e.dat")
    with site.edited("transformations.yml") as programs:
        (program,) = programs["transformations"]
        program["profiles"] = {"dagman": {"retry": str(retry)}}
    folder = planned(site, "run", "--bb-chains", "auto")
    failed = site.run("run")
    assert failed.returncode == 80
    assert "mix: the disk on my desk is full" in failed.stderr
    begun = [line.split()[0] for line in ran.read_text().splitlines()]
    assert (begun.count("d.dat"), begun.count("e.dat")) == (retry + 1, runs)
    assert len(list(folder.glob(f"*/*/{CHAIN}.out.*"))) == retry + 1


def test_a_chain_whose_folder_is_to_be_kept_has_no_try_in_its_place(site: Site) -> None:
    more = ("--bb-chains", "auto", "--bb-keep-failed", "on")
    assert "retry" not in node(planned(site, "run", *more))


def test_a_checkpoint_on_the_pfs_outlives_the_failed_tries_of_a_chain(
    site: Site,
) -> None:
    """A try in its place starts as if nothing had been: DAGMan has the next one."""
    with site.edited("workflow.yml") as workflow:
        [job] = [job for job in workflow["jobs"] if job["id"] == "E"]
        job["uses"].append({"lfn": "state", "type": "checkpoint"})
    task = site.root / "mix.py"
    task.write_text(
        task.read_text()
        + "if out == 'e.dat':\n"
        + "    known = os.path.exists('state') and open('state').read() or ''\n"
        + "    open('state', 'w').write(known + 'x')\n"
        + "    sys.exit(0 if known == 'x' else 3)\n"
    )
    folder = planned(site, "run", "--bb-chains", "on")
    assert "retry" not in node(folder)
    done = site.run("run")
    assert done_well(done)


def test_a_failed_chain_begins_anew_and_says_which_task_failed(site: Site) -> None:
    site.trouble.write_text("e.dat")
    folder = planned(site, "run", "--bb-chains", "on")
    failed = site.run("run")
    assert failed.returncode == 80
    assert "mix: the disk on my desk is full" in failed.stderr
    assert note(folder)["status"] == 1
    site.trouble.unlink()
    site.finishes("run", RESULT)


@pytest.mark.parametrize(
    ("slow", "is_whole"),
    [("e.dat", False), ("b.dat", True), ("sub/c.dat", True)],
)
def test_a_chain_that_is_killed_anywhere_leaves_right_results(
    site: Site, disk: Path, slow: str, is_whole: bool
) -> None:
    """Of D and E, or of all jobs, where run times are known."""
    if is_whole:
        takes(site, seconds=1)
    begun = site.slow(2, slow)
    planned(site, "run", "--bb-chains", "on")
    killed_when(site, "run", CHAIN, begun)
    site.finishes("run", RESULT)
    until(lambda: list(disk.iterdir()) == [])


def test_labels_of_the_user_join_nothing_and_are_not_mixed_with_chains(
    site: Site,
) -> None:
    with site.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            job["profiles"] = {"pegasus": {"label": "mine"}}
    with site.edited("transformations.yml") as programs:
        programs["transformations"][0]["profiles"] = {"pegasus": {"label": "yours"}}
    folder = planned(site, "run", "--bb-chains", "on", "--cluster", "horizontal")
    names = [f"mix_{name}" for name in "ABC"]
    assert sorted(p.stem for p in (folder / "bb/nodes").iterdir()) == [CHAIN, *names]
    options = ("--bb-mode", "transient", "--bb-chains", "on", "--cluster", "label")
    said = site.refuses("other", *options)
    assert "--cluster label and --bb-chains would both say" in said


def test_explain_and_plan_show_what_stays_and_what_waits(site: Site) -> None:
    options = ("--bb-mode", "transient", "--bb-chains", "on")
    told = site.bb("explain", *options, check=True).stdout
    assert "chain D, E: 4.0 MiB for 250.0 KiB, 2 files in, 1 out, 1 stays" in told
    line = "chains:   2 jobs run as 1 of the batch system; staying on their nodes: 62.5"
    assert line in told
    assert (
        "longest path: 4 jobs, as without chains; at a time: 2 at most, as with" in told
    )
    assert line in site.plan("run", *options).stderr
    assert "for each of 4 jobs" in site.bb("check", *options, check=True).stdout
    found = json.loads(site.bb("explain", "--json", *options, check=True).stdout)
    assert found["chains"]["found"][0]["jobs"] == ["D", "E"]
    assert "cuts" not in found
    off = site.plan("other", "--bb-mode", "off", "--bb-chains", "on")
    assert off.returncode == 0, off.stderr
    assert "chains:   none: only mode transient has them\n" in off.stderr


def test_plan_counts_a_chain_as_one_reader_of_a_cached_input_as_explain_does(
    site: Site,
) -> None:
    site.declare(cache="10MiB")
    options = ("--bb-mode", "transient", "--bb-chains", "on", "--bb-copy-below", "0B")
    texts = site.bb("explain", *options).stdout, site.plan("run", *options).stderr
    found = [[x for x in text.splitlines() if "cache:" in x] for text in texts]
    assert found[0] == found[1] != []


@pytest.mark.parametrize(("seconds", "chains"), [(60, ["D E"]), (1, ["A B C D E"])])
def test_auto_takes_the_chains_that_are_fastest_by_the_forecast(
    site: Site, seconds: int, chains: list[str]
) -> None:
    """B and C may run at the same time, or in one chain with all others."""
    takes(site, seconds)
    speeds = {"slots": 2, "pfs": {"read": "10KB/s", "write": "10KB/s"}}
    speeds["nvme"] = {"read": "1GB/s", "write": "1GB/s"}
    (site.work / "speeds.yml").write_text(json.dumps({"cluster": speeds}))
    more = ("--bb-chains", "auto", "--bb-speeds", "speeds.yml")
    words = ("explain", "--bb-mode", "transient", *more)
    found = json.loads(site.bb(*words, "--json", check=True).stdout)
    joined = [" ".join(chain["jobs"]) for chain in found["chains"]["found"]]
    assert joined == chains
    assert [cut["jobs"] for cut in found["cuts"]] == [5, 2, 2, 0]
    (taken,) = (cut for cut in found["cuts"] if cut["is_taken"])
    assert taken["seconds"] <= 1.05 * min(cut["seconds"] for cut in found["cuts"])
    told = site.bb(*words, check=True).stdout
    assert "s of tasks and copies with 1 chain of 5 jobs at most, " in told
    folder = planned(site, "run", *more)
    site.finishes("run", RESULT)
    nodes = [path.stem for path in (folder / "bb/nodes").glob("merge_*")]
    assert len(nodes) == len(chains)


def test_files_of_unknown_size_are_no_0_bytes_that_stay(site: Site) -> None:
    with site.edited("workflow.yml") as workflow:
        for use in (use for job in workflow["jobs"] for use in job["uses"]):
            use.pop("metadata", None)
    options = ("--bb-mode", "transient", "--bb-chains", "on")
    told = site.bb("explain", *options, "--bb-capacity", "1MiB", check=True).stdout
    assert "batch system; staying on their nodes: 1 file of unknown size; " in told
