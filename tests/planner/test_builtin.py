"""The built-in planner: what it plans, and what it refuses by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.blahp import PERIODIC_RELEASE
from pegasus_bb.model.dag.roles import Role, role_of

from .hands import site, submit_of, submit_text

# Which files go where


def test_replicas_on_the_site_come_first_then_here_then_elsewhere(runner: Any) -> None:
    runner.replicas["replicas"][0]["pfns"] = [
        {"site": "far", "pfn": "gsiftp://far.example.org/in.txt"},
        {"site": "far", "pfn": "/mirror/in.txt"},
        {"site": "local", "pfn": "file:///home/wfuser/in.txt"},
        {"site": "cori", "pfn": "scp://cori/in.txt"},
        {"site": "cori", "pfn": "/lus/in.txt"},
    ]
    (entry,) = runner.plan().jobs["stage_in_remote_cori_0_0"].entries
    urls = [source["url"] for source in entry["src_urls"]]
    assert urls == [
        "file:///lus/in.txt",
        "file:///home/wfuser/in.txt",
        "file:///mirror/in.txt",
        "scp://cori/in.txt",
        "gsiftp://far.example.org/in.txt",
    ]
    ranks = [source["priority"] for source in entry["src_urls"]]
    assert ranks == sorted(ranks, reverse=True)


def test_a_tool_of_the_catalog_does_the_transfers_with_its_profiles(
    runner: Any, tmp_path: Path
) -> None:
    pfn = "$PEGASUS_HOME/bin/pegasus-transfer"
    site(runner)["profiles"]["env"]["PEGASUS_HOME"] = "/opt/pegasus"
    runner.transformations["transformations"].append(
        {
            "namespace": "pegasus",
            "name": "transfer",
            "sites": [{"name": "cori", "pfn": pfn, "type": "installed"}],
            "profiles": {"pegasus": {"transfer.threads": "8"}},
        }
    )
    read = submit_of(runner, "stage_in_remote_cori_0_0", tmp_path)
    assert read.arguments[-3:] == [
        "/opt/pegasus/bin/pegasus-transfer",
        "--threads",
        "8",
    ]
    ours = submit_of(runner, "create_dir_demo_0_cori", tmp_path)
    assert ours.arguments[-1] == str(runner.context.bin / "transfer")


# Profiles


def test_the_profile_nearest_to_the_job_wins(runner: Any, tmp_path: Path) -> None:
    runner.properties = {"env.A": "properties", "env.E": "properties"}
    site(runner)["profiles"]["env"] = dict.fromkeys("ABCD", "site")
    split = runner.transformations["transformations"][0]
    split["profiles"] = {"env": dict.fromkeys("BCD", "transformation")}
    split["sites"][0]["profiles"] = {"env": dict.fromkeys("CD", "its site")}
    runner.jobs[0]["profiles"] = {"env": {"D": "job"}}
    told = submit_of(runner, "split_ID1", tmp_path).environment
    assert [told[k] for k in "ABCDE"] == [
        "site",
        "transformation",
        "its site",
        "job",
        "properties",
    ]
    assert submit_of(runner, "merge_ID3", tmp_path).environment["D"] == "site"


def test_a_pool_is_asked_for_what_a_job_needs(runner: Any) -> None:
    own = {"cores": 4, "memory": "2048", "gpus": "1", "runtime": 61}
    runner.jobs[0]["profiles"] = {"pegasus": own, "condor": {"+Group": '"a%b"'}}
    text = submit_text(runner, "split_ID1")
    for line in (
        "universe = vanilla",
        "request_cpus = 4",
        "request_memory = 2048",
        "request_gpus = 1",
        '+group = "a%b"',
        "+pegasus_job_runtime = 61",
    ):
        assert f"\n{line}\n" in text
    assert "request_cpus" not in submit_text(runner, "merge_ID3")


def test_a_batch_system_gets_the_attributes_of_glite(
    runner: Any, tmp_path: Path
) -> None:
    site(runner)["profiles"].update(
        pegasus={
            "style": "glite",
            "queue": "debug",
            "project": "m1",
            "glite.arguments": " --qos=high --constraint=(knl|hsw) ",
        },
        condor={"grid_resource": "batch slurm"},
        env={"QUOTED": """it's "here" \\ $HOME"""},
    )
    runner.jobs[0]["profiles"] = {"pegasus": {"runtime": "3601", "cores": "2"}}
    read = submit_of(runner, "split_ID1", tmp_path)
    assert read.universe == "grid"
    assert read.environment["QUOTED"] == """it's "here" \\ $HOME"""
    assert read.environment["PEGASUS_QUEUE"] == "debug"
    assert read.attributes["remote_cerequirements"] == (
        'JOBNAME=="splitID1" && PASSENV==1 && PRIORITY==20 && CORES==2 && '
        'WALLTIME=="01:01:00" && PROJECT=="m1" && '
        'EXTRA_ARGUMENTS=="--qos=high --constraint=(knl|hsw)"'
    )


@pytest.mark.parametrize("key", ["queue", "project", "memory", "glite.arguments"])
@pytest.mark.parametrize("text", ["a;b", "$(id)", "`id`", 'say "a b"', "a\\b", "*"])
def test_what_the_scripts_of_a_batch_system_would_read_is_refused(
    runner: Any, key: str, text: str
) -> None:
    site(runner)["profiles"].update(
        pegasus={"style": "glite", key: text}, condor={"grid_resource": "batch slurm"}
    )
    with pytest.raises(CatalogError, match=r"shell scripts of the batch system"):
        runner.plan()


def test_over_ssh_the_grid_of_the_site_says_where(runner: Any) -> None:
    site(runner)["profiles"]["pegasus"]["style"] = "ssh"
    site(runner)["grids"] = [
        {"contact": "me@aux", "scheduler": "slurm", "jobtype": "auxillary"},
        {"contact": "me@cori", "scheduler": "slurm", "jobtype": "compute"},
    ]
    task = submit_text(runner, "split_ID1")
    folder = submit_text(runner, "create_dir_demo_0_cori")
    assert "\ngrid_resource = batch slurm me@cori\n" in task
    assert f"\nperiodic_release = {PERIODIC_RELEASE}\n" in task
    assert "\ngrid_resource = batch slurm me@aux\n" in folder


def test_dagman_profiles_and_properties_reach_the_dag(runner: Any) -> None:
    runner.properties = {"dagman.RETRY": "3", "dagman.stagein.maxjobs": "2"}
    pre = {"pre": "/bin/true", "pre.arguments": "a b", "ABORT-DAG-ON": "3 RETURN 1"}
    own = {"retry": "0", "CATEGORY": "big", "PRIORITY": "-5", **pre}
    runner.jobs[0]["profiles"] = {"dagman": own}
    dag = runner.plan().dag
    node = dag.nodes["split_ID1"]
    assert (node.retry, node.category, node.priority) == (0, "big", -5)
    assert node.pre is not None
    assert (node.pre.executable, node.pre.arguments) == ("/bin/true", "a b")
    assert node.abort_on == (3, 1)
    assert dag.nodes["merge_ID3"].retry == 3
    assert dag.nodes["stage_in_remote_cori_0_0"].retry == 3
    assert dag.max_jobs == {
        "cleanup": 4,
        "registration": 1,
        "stageout": 10,
        "stagein": 2,
    }


@pytest.mark.parametrize(
    "name",
    ["stage_in", "stage_out", "create_dir_x", "clean_up", "register", "bb_setup"],
)
def test_a_task_that_is_called_like_a_node_of_ours_is_a_task(
    runner: Any, name: str
) -> None:
    runner.jobs[2]["name"] = name
    runner.transformations["transformations"][2]["name"] = name
    if name != "bb_setup":  # the name of a job that planning adds there
        runner.persistent()
    planned = runner.plan()
    node = next(n for n, p in planned.jobs.items() if p.job and p.job.id == "ID3")
    assert node == f"task_{name}_ID3"
    assert role_of(node) is Role.TASK


def test_a_job_without_files_may_run_here_if_its_program_is_only_here(
    runner: Any,
) -> None:
    """As pegasus-plan maps it, where --sites names local, too."""
    runner.transformations["transformations"].append(
        {
            "name": "say",
            "sites": [{"name": "local", "pfn": "/bin/echo", "type": "installed"}],
        }
    )
    runner.jobs.append({"type": "job", "name": "say", "id": "ID4", "arguments": ["x"]})
    with pytest.raises(CatalogError, match="runs say on site cori"):
        runner.plan()
    runner.change(may_run_here=True)
    assert runner.plan().jobs["say_ID4"].on_submit_host
