"""A workflow inside another, planned when its turn comes, by the built-in planner."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.user_site import INPUTS, Site, done_well, killed_when

NODE = "pegasus-plan_inner_yml_SUB"


def use(lfn: str, kind: str, *, result: bool = False) -> dict[str, Any]:
    entry: dict[str, Any] = {"lfn": lfn, "type": kind}
    if kind == "output":
        size = {"size": 64_000}
        entry.update(stageOut=result, registerReplica=False, metadata=size)
    return entry


def mix(ident: str, output: str, *inputs: str, result: bool = False) -> dict[str, Any]:
    uses = [*(use(i, "input") for i in inputs), use(output, "output", result=result)]
    words = [output, *inputs]
    return {"type": "job", "name": "mix", "id": ident, "arguments": words, "uses": uses}


def mixed(*parts: bytes) -> bytes:
    data = b"".join(parts)
    return hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def nested(site: Site, *arguments: str) -> None:
    """W writes the inner workflow and A its input; Z reads what the inner one makes."""
    inner = [mix("X", "x.dat", "a.dat"), mix("Y", "y.dat", "x.dat", result=True)]
    document = {"pegasus": "5.0.4", "name": "inner", "jobs": inner}
    (site.root / "template.yml").write_text(yaml.dump(document))
    with site.edited("replicas.yml") as replicas:
        pfn = {"site": "cluster", "pfn": str(site.root / "template.yml")}
        replicas["replicas"].append({"lfn": "template.yml", "pfns": [pfn]})
    with site.edited("transformations.yml") as programs:
        copy = {"name": "cluster", "pfn": str(shutil.which("cp")), "type": "installed"}
        programs["transformations"].append({"name": "copy", "sites": [copy]})
    write = mix("W", "inner.yml", "template.yml")
    write.update(name="copy", arguments=["template.yml", "inner.yml"])
    run = {
        "type": "pegasusWorkflow",
        "file": "inner.yml",
        "id": "SUB",
        "arguments": [*arguments],
        "uses": [
            {**use("inner.yml", "input"), "forPlanning": True},
            use("a.dat", "input"),
            use("y.dat", "output", result=True),
        ],
    }
    jobs = [write, mix("A", "a.dat", "in.txt"), run]
    last = mix("Z", "z.dat", "y.dat", "a.dat", result=True)
    last["uses"][0]["metadata"] = {"size": 64_000}
    outer = {"pegasus": "5.0.4", "name": "outer", "jobs": [*jobs, last]}
    site.save("workflow.yml", outer)


def expected() -> dict[str, bytes]:
    a = mixed(INPUTS["in.txt"])
    y = mixed(mixed(a))
    return {"y.dat": y, "z.dat": mixed(y, a)}


def inner_run(folder: Path) -> Path:
    return folder / "sub" / NODE / "run"


@pytest.mark.parametrize(
    ("mode", "data"), [("persistent", "sharedfs"), ("transient", "condorio")]
)
def test_files_go_into_the_inner_run_and_back(site: Site, mode: str, data: str) -> None:
    nested(site)
    site.configure(data)
    folder = site.planned("run", "--bb-mode", mode, "--bb-poll", "1s")
    assert not (folder / "sub").exists()  # planned at its turn
    site.finishes("run", expected())
    modes = [(f / "bb/plan.json").read_text() for f in (folder, inner_run(folder))]
    assert all(f'"mode": "{mode}"' in text for text in modes)


def test_a_failed_inner_run_is_continued_and_not_planned_again(site: Site) -> None:
    nested(site)
    site.trouble.write_text("y.dat")
    folder = site.planned("run", "--bb-mode", "persistent", "--bb-poll", "1s")
    done = site.run("run")
    assert done.returncode != 0
    assert "the disk on my desk is full" in done.stderr
    planned = (inner_run(folder) / "bb/plan.json").read_text()
    site.trouble.unlink()
    site.finishes("run", expected())
    assert (inner_run(folder) / "bb/plan.json").read_text() == planned
    (x,) = inner_run(folder).glob("*/*/mix_X.out.*")  # it ran once
    assert x.name.endswith(".000")


def test_an_engine_that_is_killed_leaves_an_inner_run_that_goes_on(site: Site) -> None:
    nested(site)
    folder = site.planned("run", "--bb-mode", "persistent", "--bb-poll", "1s")
    killed_when(site, "run", NODE, site.slow(60, "y.dat"))
    site.write_task()
    site.finishes("run", expected())
    (x,) = inner_run(folder).glob("*/*/mix_X.out.*")
    assert x.name.endswith(".000")
    assert site.reservations() == []


def test_without_sizes_the_outer_run_leaves_room_for_the_inner_one(site: Site) -> None:
    nested(site)
    for name in ("work/workflow.yml", "template.yml"):
        document = yaml.safe_load((site.root / name).read_text())
        for job in document["jobs"]:
            for one in job["uses"]:
                one.pop("metadata", None)
        (site.root / name).write_text(yaml.dump(document))
    done = site.plan("run", "--bb-mode", "persistent", "--bb-poll", "1s")
    assert "25 % of what the tier has free" in done.stderr
    looked = ["--sites", "cluster", "--output-sites", "local", "workflow.yml"]
    assert site.bb("explain", *looked).returncode == 0
    assert site.bb("check", "--bb-mode", "persistent", *looked).returncode == 0
    site.finishes("run", expected())


def test_a_run_that_starts_over_plans_the_inner_one_anew(site: Site) -> None:
    nested(site)
    folder = site.planned("run", "--bb-mode", "off")
    assert done_well(site.run("run"))
    planned = (inner_run(folder) / "bb/plan.json").read_text()
    site.bb("run", "--restart", str(folder), check=True)
    assert site.content("run") == expected()
    assert (inner_run(folder) / "bb/plan.json").read_text() != planned


def test_without_an_output_site_its_results_still_reach_the_outer_jobs(
    site: Site,
) -> None:
    nested(site)
    words = ["--sites", "cluster", "--dir", str(site.root / "submit")]
    words += ["--relative-submit-dir", "run", "--bb-mode", "off", "workflow.yml"]
    site.bb("plan", *words, check=True)
    assert done_well(site.run("run"))
    (z,) = (site.root / "pfs").rglob("z.dat")
    assert z.read_bytes() == expected()["z.dat"]


def test_a_result_that_stays_inside_is_missed_by_name(site: Site) -> None:
    nested(site)
    template = site.root / "template.yml"
    text = template.read_text().replace("stageOut: true", "stageOut: false")
    template.write_text(text)
    site.planned("run", "--bb-mode", "off")
    done = site.run("run")
    assert done.returncode != 0
    assert "'y.dat', which other jobs read, was not staged out" in done.stderr


def test_a_workflow_of_sub_workflows_alone_uses_no_tier_itself(site: Site) -> None:
    nested(site)
    with site.edited("workflow.yml") as workflow:
        inner = workflow["jobs"][2]
        inner["uses"] = inner["uses"][:1]
        workflow["jobs"] = [inner]
    (site.root / "inputs" / "a.dat").write_bytes(mixed(INPUTS["in.txt"]))
    template = (site.root / "template.yml").read_text()
    (site.root / "inputs" / "inner.yml").write_text(template)
    more = ["--input-dir", str(site.root / "inputs"), "--bb-mode", "persistent"]
    done = site.plan("run", *more, "--bb-poll", "1s")
    assert done_well(done)
    assert "it uses no tier: mode persistent is that of its sub" in done.stderr
    assert done_well(site.run("run"))
    assert site.content("run") == {"y.dat": expected()["y.dat"]}
    folder = site.submit_dir("run")
    assert not (folder / "bb/request.json").exists()
    assert (inner_run(folder) / "bb/request.json").exists()


def test_explain_and_plan_refuse_an_inner_workflow_that_is_nowhere(site: Site) -> None:
    nested(site)
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"].pop(0)  # it writes the inner workflow
    why = "the sub-workflow SUB needs a file that no job makes"
    looked = ["--sites", "cluster", "--output-sites", "local", "workflow.yml"]
    told = site.bb("explain", *looked)
    assert (told.returncode, why in told.stderr) == (2, True)
    for mode in ("off", "persistent"):
        done = site.plan(mode, "--bb-mode", mode)
        assert (done.returncode, why in done.stderr) == (2, True)
