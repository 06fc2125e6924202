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


def missing_program(desk: Any) -> None:
    desk.transformations["transformations"].pop(0)


def program_on_another_site(desk: Any) -> None:
    desk.transformations["transformations"][0]["sites"][0]["name"] = "far"


def missing_replica(desk: Any) -> None:
    desk.replicas["replicas"].pop()


def relative_pfn(desk: Any) -> None:
    desk.replicas["replicas"][0]["pfns"][0]["pfn"] = "in.txt"


def pfn_with_newline(desk: Any) -> None:
    desk.replicas["replicas"][0]["pfns"][0]["pfn"] = "/lus/in\n.txt"


def workflow_inside(desk: Any) -> None:
    desk.jobs[0]["type"] = "pegasusWorkflow"


def in_and_out(desk: Any) -> None:
    desk.jobs[0]["uses"].append({"lfn": "a.txt", "type": "input"})


def other_site(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"selector": {"execution.site": "summit"}}


def local_job_with_files(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"selector": {"execution.site": "local"}}


def stream_that_escapes(desk: Any) -> None:
    desk.jobs[0]["stdout"] = "../../.bashrc"


def post_script(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"dagman": {"POST": "/bin/true"}}


def unknown_dagman_key(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"dagman": {"NOOP": "true"}}


def pre_newline(desk: Any) -> None:
    own = {"PRE": "/bin/true", "PRE.ARGUMENTS": "a\nFINAL x y"}
    desk.jobs[0]["profiles"] = {"dagman": own}


def pre_for_every_node(desk: Any) -> None:
    site(desk)["profiles"]["dagman"] = {"PRE": "/bin/true"}


def condor_key(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"condor": {"a\nqueue 9": "1"}}


def condor_value(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"condor": {"requirements": "true\nqueue 9"}}


def condor_executable(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"condor": {"Executable": "/bin/rm"}}


def condor_if(desk: Any) -> None:
    site(desk)["profiles"]["condor"] = {"if": "true"}


def env_too_long(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"env": {"LIST": "\u00e9" * 65534}}


def argument_too_long(desk: Any) -> None:
    desk.jobs[0]["arguments"] = ["\u00e9" * 65536]


def stdin_of_nobody(desk: Any) -> None:
    desk.jobs[2]["stdin"] = "a.txt"


def env_name(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"env": {"A B": "1"}}


def cores(desk: Any) -> None:
    desk.jobs[0]["profiles"] = {"pegasus": {"cores": "two"}}


def strange_style(desk: Any) -> None:
    site(desk)["profiles"]["pegasus"]["style"] = "condorc"


def glite_without_resource(desk: Any) -> None:
    site(desk)["profiles"]["pegasus"]["style"] = "glite"


def ssh_without_grid(desk: Any) -> None:
    site(desk)["profiles"]["pegasus"]["style"] = "ssh"


def no_scratch(desk: Any) -> None:
    site(desk)["directories"] = []


def no_storage(desk: Any) -> None:
    desk.sites["sites"][0]["directories"] = []


def other_configuration(desk: Any) -> None:
    desk.properties = {"pegasus.data.configuration": "condorio"}


def no_threads(desk: Any) -> None:
    desk.properties = {"pegasus.transfer.threads": "many"}


def two_nodes_of_one_name(desk: Any) -> None:
    desk.jobs[0].update(name="split", id="a.b")
    desk.jobs[1].update(name="split", id="a_b")


def program_named_like_a_file(desk: Any) -> None:
    desk.jobs[0]["uses"].append({"lfn": "count", "type": "output", "stageOut": False})


def argument_without_spelling(desk: Any) -> None:
    desk.jobs[0]["arguments"] = ["a$(DOLLAR)b"]


def lfn_without_spelling(desk: Any) -> None:
    desk.jobs[0]["uses"].append({"lfn": "$(dollar)", "type": "output"})


def argument_with_newline(desk: Any) -> None:
    desk.jobs[0]["arguments"] = ["a\nqueue 9"]


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
    desk: Any, spoil: Callable[[Any], None]
) -> None:
    spoil(desk)
    with pytest.raises(UsageError) as refusal:
        desk.plan()
    assert re.search(REFUSED[spoil], str(refusal.value), re.DOTALL)


def test_what_a_process_can_just_be_started_with_is_not_refused(desk: Any) -> None:
    longest = 128 * 1024 - 1
    desk.jobs[0]["arguments"] = ["x" * longest]
    desk.jobs[0]["profiles"] = {"env": {"LIST": "x" * (longest - len("LIST="))}}
    desk.jobs[2]["stdin"] = "b.txt"
    desk.plan()


@pytest.mark.parametrize(
    "name", ["with blank", "tab\there", "line\nbreak", "quo'te", "dollar$(X)"]
)
def test_a_submit_directory_that_dagman_would_split_is_refused(
    desk: Any, name: str
) -> None:
    desk.change(submit_dir=Path("/home") / name)
    with pytest.raises(UsageError, match="choose another --dir"):
        desk.plan()


def test_results_that_would_vanish_with_the_buffer_are_refused(desk: Any) -> None:
    desk.persistent()
    desk.change(output_site="")
    with pytest.raises(UsageError, match=r"'out.txt' of job ID3 would vanish"):
        desk.plan()


def test_a_missing_replica_names_job_file_and_what_would_do(desk: Any) -> None:
    missing_replica(desk)
    with pytest.raises(CatalogError) as refusal:
        desk.plan()
    assert refusal.value.exit_code == 2
    assert "would do: add 'words.txt' to /home/wfuser/replicas.yml" in str(
        refusal.value
    )
