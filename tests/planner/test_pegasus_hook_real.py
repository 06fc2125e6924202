"""The hook in front of a real Pegasus, for a shell and for Pegasus.api in it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from pegasus_bb.cli.hook import make_hook_home, shell_command
from pegasus_bb.model.dag.reader import read_dag
from tests.support.real_pegasus import HOME, MARKS, WorkflowRunner

pytestmark = MARKS
WORKFLOW = """\
import sys
from Pegasus.api import File, Job, Workflow
job = Job("cat1").add_args("in.txt", "out.txt")
job.add_inputs(File("in.txt")).add_outputs(File("out.txt"))
workflow = Workflow("api").add_jobs(job)
said = {"pegasus.bb.mode": "persistent"}
workflow.plan(sites=["cori"], output_sites=["local"], dir="submit",
              relative_submit_dir="h", submit=sys.argv[1:] == ["submit"], **said)
print(workflow.braindump.submit_dir)
"""
# What pegasus-run calls; it keeps what was there to be submitted.
CONDOR_SUBMIT = """#!/bin/sh
cp "$PWD"/api-0.dag "$HOME"/submitted.dag
echo "7.0 - 7.0"
"""


class Shell:
    """One in which eval "$(pegasus-bb hook)" was said."""

    def __init__(self, root: Path) -> None:
        self.runner = WorkflowRunner(root)
        ours = root / "venv" / "pegasus-bb"
        ours.parent.mkdir()
        ours.write_text(f'#!/bin/sh\nexec {sys.executable} -m pegasus_bb "$@"\n')
        ours.chmod(0o755)
        submit = root / "stubs" / "condor_submit"
        submit.write_text(CONDOR_SUBMIT)
        submit.chmod(0o755)
        self.line = shell_command(make_hook_home(HOME, ours, root / "a 'cache'"))

    def say(self, *words: str, **more: str) -> str:
        line = f"{self.line}; pegasus-version; {shlex.join(words)}"
        return self.runner.call("/bin/sh", "-c", line, **more).stdout

    def python(self, *words: str) -> str:
        """With what Pegasus brings for Python."""
        config = str(self.runner.pegasus / "pegasus-config")
        found = [
            self.runner.call(config, said).stdout.strip()
            for said in ("--python", "--python-externals")
        ]
        (self.runner.work / "api.py").write_text(WORKFLOW)
        path = ":".join(found)
        return self.say(sys.executable, "api.py", *words, PYTHONPATH=path)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_hook_leads_through_us(shell: Shell) -> None:
    work = shell.runner.work
    (work / "pegasus.properties").write_text("pegasus.bb.mode = persistent\n")
    asked = ["pegasus-plan", "--sites", "cori", "--output-sites", "local"]
    asked += ["--dir", "submit", "--relative-submit-dir", "h", "workflow.yml"]
    shell.say(*asked)
    assert (work / "submit/h/bb/request.json").exists()


def test_what_python_submits_is_sealed_by_then(shell: Shell) -> None:
    said = shell.python("submit")
    assert said.splitlines()[-1] == str(shell.runner.work / "submit" / "h")
    submitted = shell.runner.root / "submitted.dag"
    gate = read_dag(submitted).nodes["create_dir_api_0_cori"].pre
    assert gate is not None
    assert gate.executable.endswith("/bb/bin/gate")
