"""A reservation for each job: scratch stays on the PFS, nothing but that changes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pegasus_bb.engine.processes import end_left_over
from pegasus_bb.runtime.room.planned import LANDING

from .conftest import Site, expected, kill, wait_for_event


def transient(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def ledger(site: Site) -> list[dict[str, Any]]:
    lines = (site.root / "ledger.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_nobody_reserves_for_the_whole_workflow(site: Site) -> None:
    folder = transient(site, "bb")
    dag = (folder / "diamond-0.dag").read_text()
    assert "bb_setup" not in dag
    assert "bb_delete" not in dag
    assert " PRE " not in dag
    assert not (folder / "bb" / "request.json").exists()
    assert site.plan_file("bb")["mode"] == "transient"
    assert site.plan_file("bb")["scratch"].startswith(str(site.root / "pfs"))


def test_every_task_works_on_a_reservation_of_its_own(site: Site) -> None:
    transient(site, "bb")
    assert site.run("bb").returncode == 0
    tasks = {n: r for n, r in site.records("bb").items() if "mix" in n}
    places = {record["cwd"] for record in tasks.values()}
    assert len(places) == len(tasks) == 5
    assert all(place.startswith(f"{site.tier_path}/pbb") for place in places)


def test_each_is_on_the_ledger_and_given_back(site: Site) -> None:
    transient(site, "bb")
    assert site.run("bb").returncode == 0
    events = [(line["name"], line["event"]) for line in ledger(site)]
    names = {name for name, _ in events}
    assert len(names) == 5
    wanted = {(name, e) for name in names for e in ("requested", "released")}
    assert set(events) == wanted
    assert "no reservation" in site.bb("ls").stdout.lower()


def test_a_tier_with_room_for_one_job_lets_one_after_the_other(site: Site) -> None:
    site.declare(quota="1MiB")  # a granule
    transient(site, "bb")
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()


def test_a_failed_task_leaves_nothing_behind_and_a_second_run_goes_on(
    site: Site,
) -> None:
    site.trouble.write_text("d.dat")
    folder = transient(site, "bb", "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert site.reservations() == []
    assert json.loads((folder / "bb/landed/mix_D.json").read_text())["files"] == {}
    scratch = Path(site.plan_file("bb")["scratch"])
    assert not (scratch / "d.dat").exists()
    site.trouble.unlink()
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()


def test_a_task_that_does_not_make_what_it_should_fails_by_name(site: Site) -> None:
    workflow = site.document("workflow.yml")
    uses = workflow["jobs"][0]["uses"]
    uses.append({"lfn": "no.dat", "type": "output", "metadata": {"size": 1}})
    site.save("workflow.yml", workflow)
    folder = transient(site, "bb", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    (said,) = folder.glob("*/*/mix_A.err.000")
    assert "no.dat: the task ended well, but has not made" in said.read_text()


def test_a_reservation_that_is_refused_fails_its_job_with_the_words(
    site: Site,
) -> None:
    site.declare(fail="create:no such project")
    folder = transient(site, "bb", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    (said,) = folder.glob("*/*/mix_A.err.000")
    assert "no such project" in said.read_text()


def test_results_wait_in_a_folder_that_is_gone_in_the_end(site: Site) -> None:
    transient(site, "bb", "--cleanup", "none")
    assert site.run("bb").returncode == 0
    scratch = Path(site.plan_file("bb")["scratch"])
    assert list((scratch / LANDING).iterdir()) == []


def test_a_node_waits_for_its_results_before_its_own_post_script(site: Site) -> None:
    dag = (transient(site, "bb") / "diamond-0.dag").read_text()
    bin_folder = site.submit_dir("bb") / "bb" / "bin"
    begins = f"SCRIPT DEFER 75 1 POST mix_A {bin_folder}/landed mix_A $JOBID $RETURN "
    (line,) = (line for line in dag.splitlines() if " POST mix_A " in line)
    assert line.startswith(f"{begins}{bin_folder}/exitcode -r $RETURN ")
    assert "SCRIPT POST stage_in" in dag


def test_explain_says_what_each_job_reserves(site: Site) -> None:
    told = site.bb(
        "explain", "--sites", "cluster", "--bb-mode", "transient", check=True
    )
    assert "job A: 1.0 MiB for 66.4 KiB, 1 files in, 1 out" in told.stdout
    assert "capacity: up to 1.0 MiB for each job" in told.stdout


def test_a_submit_directory_in_the_scratch_itself_is_refused(site: Site) -> None:
    done = site.bb(
        "plan",
        *("--sites", "cluster", "--output-sites", "local"),
        *("--dir", str(site.root / "pfs" / "own"), "--relative-submit-dir", "run"),
        *("--relative-dir", "own", "--bb-mode", "transient", "workflow.yml"),
    )
    assert done.returncode == 2
    assert "lies in the run's own scratch" in done.stderr


def killed_while_a_task_runs(site: Site) -> Path:
    """The engine and all that it has started; a job's reservation stays."""
    begun = site.slow(60)
    folder = transient(site, "bb")
    engine = site.start_run("bb")
    assert wait_for_event(folder / "jobstate.log", "mix_A", "EXECUTE", engine)
    until(begun.exists)  # its reservation's folder is there before, and half made
    kill(engine)
    return folder


def until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def end_its_tasks(folder: Path) -> None:
    """What a reboot does; the next run would do it as well."""
    end_left_over(folder / "bb" / "engine.jsonl")


def test_what_a_killed_run_leaves_is_listed_and_given_back(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    (name,) = site.reservations()
    listed = site.bb("ls", check=True).stdout
    assert name in listed
    assert "not on this ledger" not in listed
    kept = site.bb("gc", "--yes", check=True)
    assert site.reservations() == [name], kept.stdout  # its task runs on
    end_its_tasks(folder)
    told = site.bb("gc", check=True).stdout
    assert "left by a job that was killed" in " ".join(told.split())
    assert site.reservations() == [name]
    site.bb("gc", "--yes", check=True)
    assert site.reservations() == []
    assert ledger(site)[-1]["event"] == "discarded"


def test_release_gives_back_what_a_killed_job_has_left(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    end_its_tasks(folder)
    (name,) = site.reservations()
    done = site.bb("release", name)
    assert done.returncode == 0, done.stderr
    assert site.reservations() == []


def test_a_killed_run_goes_on_and_takes_its_leftovers_over(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    task = site.root / "mix.py"
    task.write_text(task.read_text().replace("time.sleep(60)", ""))
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []
    assert (folder / "bb" / "landed" / "mix_A.json").exists()


def test_a_run_that_starts_over_believes_no_older_note(site: Site) -> None:
    folder = transient(site, "bb")
    assert site.run("bb").returncode == 0
    again = site.bb("run", "--restart", str(folder))
    assert again.returncode == 0, again.stdout + again.stderr
    older = folder / "bb" / "landed.000" / "mix_A.json"
    newer = folder / "bb" / "landed" / "mix_A.json"
    times = [json.loads(file.read_text())["time"] for file in (older, newer)]
    assert times[0] < times[1]
    assert site.content("bb") == expected()
