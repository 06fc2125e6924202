"""What the built-in planner refuses, each by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.errors import CatalogError, UsageError

from .hands import site

Data = dict[str, Any]


def missing_program(runner: Any) -> None:
    runner.transformations["transformations"].pop(0)


def program_on_another_site(runner: Any) -> None:
    runner.transformations["transformations"][0]["sites"][0]["name"] = "far"


def missing_replica(runner: Any) -> None:
    runner.replicas["replicas"].pop()


def relative_pfn(runner: Any) -> None:
    runner.replicas["replicas"][0]["pfns"][0]["pfn"] = "in.txt"


def pfn_with_newline(runner: Any) -> None:
    runner.replicas["replicas"][0]["pfns"][0]["pfn"] = "/lus/in\n.txt"


def workflow_inside(runner: Any) -> None:
    runner.jobs[0]["type"] = "pegasusWorkflow"


def in_and_out(runner: Any) -> None:
    runner.jobs[0]["uses"].append({"lfn": "a.txt", "type": "input"})


def other_site(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"selector": {"execution.site": "summit"}}


def local_job_with_files(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"selector": {"execution.site": "local"}}


def stream_that_escapes(runner: Any) -> None:
    runner.jobs[0]["stdout"] = "../../.bashrc"


def post_script(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"dagman": {"POST": "/bin/true"}}


def unknown_dagman_key(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"dagman": {"NOOP": "true"}}


def pre_newline(runner: Any) -> None:
    own = {"PRE": "/bin/true", "PRE.ARGUMENTS": "a\nFINAL x y"}
    runner.jobs[0]["profiles"] = {"dagman": own}


def pre_for_every_node(runner: Any) -> None:
    site(runner)["profiles"]["dagman"] = {"PRE": "/bin/true"}


def condor_key(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"condor": {"a\nqueue 9": "1"}}


def condor_value(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"condor": {"requirements": "true\nqueue 9"}}


def condor_executable(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"condor": {"Executable": "/bin/rm"}}


def condor_if(runner: Any) -> None:
    site(runner)["profiles"]["condor"] = {"if": "true"}


def env_too_long(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"env": {"LIST": "\u00e9" * 65534}}


def argument_too_long(runner: Any) -> None:
    runner.jobs[0]["arguments"] = ["\u00e9" * 65536]


def stdin_of_nobody(runner: Any) -> None:
    runner.jobs[2]["stdin"] = "a.txt"


def env_name(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"env": {"A B": "1"}}


def cores(runner: Any) -> None:
    runner.jobs[0]["profiles"] = {"pegasus": {"cores": "two"}}


def strange_style(runner: Any) -> None:
    site(runner)["profiles"]["pegasus"]["style"] = "condorc"


def glite_without_resource(runner: Any) -> None:
    site(runner)["profiles"]["pegasus"]["style"] = "glite"


def ssh_without_grid(runner: Any) -> None:
    site(runner)["profiles"]["pegasus"]["style"] = "ssh"


def no_scratch(runner: Any) -> None:
    site(runner)["directories"] = []


def no_storage(runner: Any) -> None:
    runner.sites["sites"][0]["directories"] = []


def other_configuration(runner: Any) -> None:
    runner.properties = {"pegasus.data.configuration": "condorio"}


def no_threads(runner: Any) -> None:
    runner.properties = {"pegasus.transfer.threads": "many"}


def two_nodes_of_one_name(runner: Any) -> None:
    runner.jobs[0].update(name="split", id="a.b")
    runner.jobs[1].update(name="split", id="a_b")


def program_named_like_a_file(runner: Any) -> None:
    runner.jobs[0]["uses"].append({"lfn": "count", "type": "output", "stageOut": False})


def argument_without_spelling(runner: Any) -> None:
    runner.jobs[0]["arguments"] = ["a$(DOLLAR)b"]


def lfn_without_spelling(runner: Any) -> None:
    runner.jobs[0]["uses"].append({"lfn": "$(dollar)", "type": "output"})


def argument_with_newline(runner: Any) -> None:
    runner.jobs[0]["arguments"] = ["a\nqueue 9"]


REFUSED: dict[Callable[[Any], None], str] = {
    missing_program: "job ID1 runs split on site cori",
    program_on_another_site: "on far only",
    missing_replica: "job ID2 \\(count\\) needs an input .* 'words.txt'",
    relative_pfn: "neither a URL nor an absolute path",
    pfn_with_newline: "the PFN of 'in.txt' has a line break",
    workflow_inside: "a pegasusWorkflow is a workflow inside",
    in_and_out: "one file is its input and output",
    other_site: "asks for another site",
    local_job_with_files: "on site local cannot have files",
    stream_that_escapes: "stdout of job ID1 leads out of the working directory",
    post_script: "POST cannot be kept on split_ID1",
    unknown_dagman_key: "NOOP cannot be kept on split_ID1",
    pre_newline: "PRE.ARGUMENTS has a line break",
    pre_for_every_node: "PRE cannot be kept on stage_in_remote_cori",
    condor_key: "becomes a line of a submit file",
    condor_value: "condor requirements has a line break",
    condor_executable: "Executable is set by the planner",
    condor_if: "the condor profile if is a word of the language",
    env_too_long: "variable LIST has more than 131071 bytes",
    argument_too_long: "argument of split_ID1 has more than 131071 bytes",
    stdin_of_nobody: "the stdin of job ID3 is no input of the job",
    env_name: "environment variable 'A B'",
    cores: "a whole number is needed",
    strange_style: "does not know",
    glite_without_resource: "nothing says which batch system",
    ssh_without_grid: "no grid with contact and scheduler",
    no_scratch: "no sharedScratch",
    no_storage: "no storage directory for results",
    other_configuration: "one data configuration, sharedfs",
    no_threads: "transfer threads",
    two_nodes_of_one_name: "two nodes .* split_a_b",
    program_named_like_a_file: "a name that a file of the workflow has",
    argument_with_newline: "an argument of split_ID1",
    argument_without_spelling: "an argument of split_ID1 cannot be passed on",
    lfn_without_spelling: "an argument of split_ID1 cannot be passed on",
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda f: f.__name__)
def test_what_would_be_planned_wrongly_is_refused(
    runner: Any, spoil: Callable[[Any], None]
) -> None:
    spoil(runner)
    with pytest.raises(UsageError) as refusal:
        runner.plan()
    assert re.search(REFUSED[spoil], str(refusal.value), re.DOTALL)


def test_what_a_process_can_just_be_started_with_is_not_refused(runner: Any) -> None:
    longest = 128 * 1024 - 1
    runner.jobs[0]["arguments"] = ["x" * longest]
    runner.jobs[0]["profiles"] = {"env": {"LIST": "x" * (longest - len("LIST="))}}
    runner.jobs[2]["stdin"] = "b.txt"
    runner.plan()


@pytest.mark.parametrize(
    "name", ["with blank", "tab\there", "line\nbreak", "quo'te", "dollar$(X)"]
)
def test_a_submit_directory_that_dagman_would_split_is_refused(
    runner: Any, name: str
) -> None:
    runner.change(submit_dir=Path("/home") / name)
    with pytest.raises(UsageError, match="choose another --dir"):
        runner.plan()


def test_results_that_would_vanish_with_the_buffer_are_refused(runner: Any) -> None:
    runner.persistent()
    runner.change(output_site="")
    with pytest.raises(UsageError, match=r"'out.txt' of job ID3 would vanish"):
        runner.plan()


def test_a_missing_replica_names_job_file_and_what_would_do(runner: Any) -> None:
    missing_replica(runner)
    with pytest.raises(CatalogError) as refusal:
        runner.plan()
    assert refusal.value.exit_code == 2
    assert "would do: add 'words.txt' to /home/wfuser/replicas.yml" in str(
        refusal.value
    )
