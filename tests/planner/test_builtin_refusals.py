"""What the built-in planner refuses, each by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.planner.options import check_folder
from tests.support.edits import REMOVE, put

LONG = "\u00e9" * 65536
OWN = "jobs/0/profiles"
MISSING = (
    r"job ID2 \(count\) needs an input .* 'words.txt'.*"
    "fix:      add 'words.txt' to /home/wfuser/replicas.yml"
)
LAUNCHER = {"gridstart.launcher": "/x", "gridstart.launcher.arguments": "a 'b"}
STAGED = {"lfn": "count", "type": "output", "stageOut": False}
# (where the user writes it, what, and what planning says)
REFUSED: list[tuple[str, Any, str]] = [
    ("transformations/transformations/0", REMOVE, "job ID1 runs split on site cori"),
    ("transformations/transformations/0/sites/0/name", "far", "on far only"),
    ("replicas/replicas/1", REMOVE, MISSING),
    ("replicas/replicas/0/pfns/0/pfn", "/a\nb", "the PFN of 'in.txt' has a line break"),
    ("jobs/0/type", "condorWorkflow", "a condorWorkflow is a DAG of HTCondor"),
    ("jobs/0/uses/+", {"lfn": "a.txt", "type": "input"}, "one file is its input and"),
    (f"{OWN}/selector/execution.site", "summit", "asks for another site"),
    (f"{OWN}/selector/execution.site", "local", "on site local cannot have files"),
    (
        "jobs/0/stdout",
        "../../.bashrc",
        "stdout of job ID1 leads out of the work",
    ),
    (f"{OWN}/dagman/POST", "/bin/true", "POST cannot be kept on split_ID1"),
    (f"{OWN}/dagman/NOOP", "true", "NOOP cannot be kept on split_ID1"),
    (f"{OWN}/dagman/PRE.ARGUMENTS", "a\nFINAL x y", "PRE.ARGUMENTS has a line break"),
    ("site/profiles/dagman/PRE", "/bin/true", "PRE cannot be kept on stage_in_remote_"),
    (f"{OWN}/condor/a\nqueue 9", "1", "becomes a line of a submit file"),
    (f"{OWN}/condor/requirements", "true\nqueue 9", "requirements has a line break"),
    (f"{OWN}/condor/Executable", "/bin/rm", "Executable is set by the planner"),
    ("site/profiles/condor/if", "true", "the condor profile if is a word of the lang"),
    (f"{OWN}/env/LIST", LONG, "variable LIST has more than 131071 bytes"),
    ("jobs/0/arguments", [LONG], "argument of job ID1 has more than 131071 bytes"),
    ("jobs/2/stdin", "a.txt", "the stdin of job ID3 is no input of the job"),
    (f"{OWN}/env/A B", "1", "environment variable 'A B'"),
    (f"{OWN}/pegasus/cores", "two", "cores is a whole number"),
    (f"{OWN}/dagman/RETRY", "3 UNLESS-EXIT 2", "RETRY is a whole number"),
    (f"{OWN}/dagman/abort-dag-on", "3 RETURN", "not an exit status to abort on"),
    (f"{OWN}/dagman", {"PRE": "/x", "PRE.ARGUMENTS": "a\\"}, "no backslash at its end"),
    ("properties/dagman.retry", "often", "RETRY is a whole number"),
    ("properties/dagman.stagein.maxjobs", "many", "maxjobs is a whole number"),
    ("properties/pegasus.cores", "two", "cores is a whole number"),
    ("transformations/transformations/0/profiles", {"ENV": {"A B": 1}}, "'A B'"),
    (f"{OWN}/pegasus", LAUNCHER, "arguments are not words of a shell"),
    ("jobs/0/arguments", ["a", "it's"], "job ID1 has a ' that is not closed"),
    ("jobs/0/arguments", ["a", 'say "hi'], 'has a " that is not closed'),
    ("jobs/0/arguments", ["a", "b\\"], r"has a \\ at the end"),
    ("site/profiles/pegasus/style", "condorc", "does not know"),
    ("site/profiles/pegasus/style", "glite", "nothing says which batch system"),
    ("site/profiles/pegasus/style", "ssh", "no grid with contact and scheduler"),
    ("site/directories", [], "no sharedScratch"),
    ("sites/sites/0/directories", [], "no storage directory for results"),
    ("properties/pegasus.dir.storage.mapper", "Replica", "no such dir.storage.mapper"),
    ("properties/pegasus.dir.storage.deep", "Yes", "no such dir.storage.deep"),
    ("properties/pegasus.transfer.links", "often", "transfer.links is true or false"),
    (f"{OWN}/pegasus/exitcode.successmsg", "done", "no such exitcode.successmsg"),
    ("properties/pegasus.gridstart", "Distribute", "no such gridstart"),
    ("jobs/0/uses/0/registerReplica", "no", "registerReplica is true or false"),
    ("jobs/0/uses/0/optional", "yes", "optional is true or false"),
    ("sites/sites/0/directores", [], "did you mean directories"),
    ("site/directories/0/pth", "/x", "did you mean path"),
    ("site/directories/0/fileServers/0/ulr", "x", "did you mean url"),
    ("replicas/replicas/0/pfns/0/sit", "x", "did you mean site"),
    ("replicas/replicas/0/pnfs", [], "did you mean pfns"),
    ("transformations/transformations/0/require", [], "did you mean requires"),
    ("transformations/transformations/0/sites/0/pfm", "x", "did you mean pfn"),
    ("properties/pegasus.transfer.threads", "many", "transfer threads"),
    ("jobs/1", {"type": "job", "name": "split", "id": "I+1"}, "two nodes .* split_I_1"),
    ("jobs/0/uses/+", STAGED, "a name that a file of the workflow has"),
    ("jobs/0/arguments", ["a", "b\nqueue 9"], "argument of job ID1 has a line break"),
    ("jobs/0/arguments", ["a$(DOLLAR)b"], "argument of split_ID1 cannot be passed on"),
    ("jobs/0/uses/+", {"lfn": "$(dollar)", "type": "output"}, "cannot be passed on"),
]


def spoil(runner: Any, where: str, value: Any) -> None:
    """Put ``value`` where the user could have written it."""
    first, _, path = where.partition("/")
    put(
        runner.sites["sites"][1] if first == "site" else getattr(runner, first),
        path,
        value,
    )


@pytest.mark.parametrize(
    ("where", "value", "words"), REFUSED, ids=[words for *_, words in REFUSED]
)
def test_what_would_be_planned_wrongly_is_refused(
    runner: Any, where: str, value: Any, words: str
) -> None:
    if "I+1" in str(value):
        runner.jobs[0]["id"] = "I.1"
    spoil(runner, where, value)
    with pytest.raises(CatalogError) as refusal:
        runner.plan()
    said = refusal.value
    assert re.search(words, str(said), re.DOTALL)
    assert said.line or said.file.endswith("properties")
    assert said.key
    assert said.would_do


def test_a_message_names_the_item_of_the_list_that_is_wrong(runner: Any) -> None:
    runner.jobs[1]["arguments"] = ["-a", "b", "import os\nprint(1)", "c"]
    with pytest.raises(CatalogError) as refusal:
        runner.plan()
    assert refusal.value.key == "jobs.1.arguments.2"
    assert refusal.value.found == repr("import os\nprint(1)")


def test_a_profile_is_wrong_where_the_user_wrote_it(runner: Any) -> None:
    """The value of the job would win; that of the site is the one that is wrong."""
    runner.sites["sites"][1]["profiles"]["Condor"] = {"queue": 5}
    runner.jobs[0]["profiles"] = {"condor": {"request_memory": "1 GB"}}
    with pytest.raises(CatalogError) as refusal:
        runner.plan()
    assert refusal.value.key == "sites.1.profiles.Condor.queue"


def test_what_a_process_can_just_be_started_with_is_not_refused(runner: Any) -> None:
    longest = 128 * 1024 - 1
    runner.jobs[0]["arguments"] = ["x" * longest]
    runner.jobs[0]["profiles"] = {"env": {"LIST": "x" * (longest - len("LIST="))}}
    runner.jobs[2]["stdin"] = "b.txt"
    runner.plan()


@pytest.mark.parametrize(
    "name", ["with blank", "tab\there", "line\nbreak", "quo'te", "dollar$(X)", "\x7f"]
)
def test_a_submit_directory_that_dagman_would_split_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="choose another --dir"):
        check_folder(Path("/home") / name)


def test_results_that_would_vanish_with_the_buffer_are_refused(runner: Any) -> None:
    runner.persistent()
    runner.change(output_sites=())
    with pytest.raises(CatalogError, match=r"'out.txt' of job ID3 would vanish") as no:
        runner.plan()
    assert (no.value.key, no.value.found) == ("jobs.2.uses", "out.txt")
    assert no.value.line and "--output-dir FOLDER" in no.value.would_do
