"""A file that is lost on the tier: the node that makes it runs again, when told to."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.run.engine import lost_inputs
from pegasus_bb.run.engine.lost_inputs import find_lost_inputs
from pegasus_bb.run.engine.submitdir import find_submit_dir
from tests.support.counting import calls
from tests.support.user_site import Site, expected

from .test_unsafe_again import before


def failed(site: Site, lost: str, *more: str) -> Path:
    """A run in which D has failed, and ``lost`` has vanished from the tier since."""
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0", *more)
    site.trouble.write_text("d.dat")
    assert site.run("bb").returncode == 80
    site.trouble.unlink()
    (file,) = site.tier_path.rglob(lost)
    file.unlink()
    return folder


@pytest.mark.parametrize(
    "lost", ["c.dat", pytest.param("b.dat", marks=pytest.mark.sweep)]
)
def test_its_maker_runs_again_when_told_to(site: Site, lost: str) -> None:
    folder = failed(site, lost)
    reads = lost if lost == "b.dat" else "sub/c.dat"
    for _ in range(2):  # as often as it is tried
        done = site.run("bb")
        assert done.returncode == 80
        assert f"{reads}, which mix_D reads, is not on the tier any more" in done.stderr
        assert f"pegasus-bb run --remake {folder}" in done.stderr
    done = site.bb("run", "--remake", str(folder))
    assert done.returncode == 0, done.stderr
    assert "inputs of failed nodes are lost; to run again: " in done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_a_cleaned_up_input_of_the_maker_is_made_again_too(site: Site) -> None:
    """A's output was removed when B and C were done, and so was the staged input."""
    folder = failed(site, "b.dat", "--cleanup", "inplace")
    for file in site.tier_path.rglob("a.dat"):
        file.unlink()
    done = site.bb("run", "--remake", str(folder))
    assert done.returncode == 0, done.stderr
    again = next(x for x in done.stderr.splitlines() if "to run again: " in x)
    assert {"mix_A,", "mix_B,"} <= set(again.split())
    assert site.content("bb") == expected()


def test_where_the_tier_is_not_seen_from_here_the_job_s_note_tells(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    lose(site)
    assert site.run("bb").returncode == 80
    monkeypatch.setattr(lost_inputs, "tier_seen_from_here", lambda *_: "")
    place = find_submit_dir(folder)
    nodes = read_dag(place.dag).nodes
    done = nodes.keys() - {"mix_D", "mix_E"}
    lost, *removed = find_lost_inputs(place, nodes, done, {"mix_D"})
    assert (lost.lfn, lost.reader, lost.maker) == ("b.dat", "mix_D", "mix_B")
    assert [one.lfn for one in removed] == ["a.dat", "in.txt"]  # by clean-ups
    assert find_lost_inputs(place, nodes, done, {"mix_E"}) == []


def test_a_result_that_is_nowhere_any_more_is_made_again(site: Site) -> None:
    """It was removed from its destination when its scratch copy had been cleaned up."""
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    once, result = site.root / "once", site.results("bb") / "e.dat"
    removed = f"[ -e {once} ] || rm {result}; : > {once}"
    before(folder / "bb" / "bin" / "delete", removed, f"--bb {folder}/bb")
    done = site.run("bb")
    assert "e.dat is neither at its destination nor on the tier; mix_E" in done.stderr
    assert f"to continue: pegasus-bb run --remake {folder}" in done.stderr
    done = site.bb("run", "--remake", str(folder))
    assert done.returncode == 0, done.stderr
    assert site.content("bb") == expected() and site.reservations() == []


def lose(site: Site) -> None:
    """The task that reads b.dat finds it gone."""
    task = site.root / "mix.py"
    gone = "if out == 'd.dat': os.unlink('b.dat')"
    task.write_text(task.read_text().replace("time.sleep(0.02)", gone))


def test_the_cost_grows_with_the_files_that_are_lost(site: Site) -> None:
    """All outputs of one job, which its record tells of, and inputs of another."""
    few, many = (_cost_of_lost(site, files) for files in (40, 160))
    assert many < 5 * few


def _cost_of_lost(site: Site, files: int) -> int:
    names = [f"{number}.dat" for number in range(files)]
    workflow = site.document("workflow.yml")
    made = [{"lfn": name, "type": "output", "stageOut": False} for name in names]
    read = [{"lfn": name, "type": "input"} for name in names]
    job = {"type": "job", "name": "mix", "arguments": []}
    workflow["jobs"] = [{**job, "id": "M", "uses": made}, {**job, "id": "R"}]
    workflow["jobs"][1]["uses"] = read
    site.save("workflow.yml", workflow)
    folder = site.planned(f"of-{files}", "--bb-mode", "off")
    Path(site.plan_file(folder.name)["scratch"]).mkdir(parents=True)
    record = "".join(f"    {name}:\n      error: 2\n" for name in names)
    (out,) = folder.glob("*/*/mix_M.sub")
    out.with_suffix(".out.000").write_text(f"- invocation: true\n  files:\n{record}")
    place = find_submit_dir(folder)
    nodes = read_dag(place.dag).nodes
    found = lambda: find_lost_inputs(place, nodes, {"mix_M"}, {"mix_R"})  # noqa: E731
    assert [one.never_made for one in found()] == [True] * files
    return calls(found)
