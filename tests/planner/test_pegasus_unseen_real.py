"""A real pegasus-plan, and nodes that see the tier and not the submit directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.planner.pegasus.complete_submit_dir import start_by_launch
from pegasus_bb.planner.pegasus.travelling_jobs import let_travel
from tests.support.real_pegasus import MARKS, WorkflowRunner
from tests.support.unseen_folder import python_of_nodes, what_is_missing

# As pegasus-plan 5.1.2 and 5.1.3 write them; the latter brings lists of files.
JOB = """\
environment = "A=b PEGASUS_SITE=cori"
executable = /submit/bb/bin/launch
transfer_executable = false
{more}universe = {universe}
queue
"""
LISTS = "transfer_input_files = $(wf_submit_dir)/a.in.lof\n"


def travelling(folder: Path, text: str) -> list[str]:
    (folder / "a.sub").write_text(text)
    let_travel(folder, [Node("a", "a.sub")], "/submit/bb/bin/launch", None)
    return (folder / "a.sub").read_text().splitlines()


@pytest.mark.parametrize("more", ["", LISTS])
def test_a_job_brings_ours_and_what_it_brought_before(
    tmp_path: Path, more: str
) -> None:
    lines = travelling(tmp_path, JOB.format(more=more, universe="vanilla"))
    where = f"PEGASUS_BB_SUBMIT_DIR={tmp_path}"
    assert f'environment = "A=b PEGASUS_SITE=cori {where}"' in lines
    assert "transfer_executable = true" in lines
    assert 'transfer_output_files = ""' in lines
    [brings] = [line for line in lines if line.startswith("transfer_input_files")]
    assert f"{tmp_path}/bb/runtime.zip, " in brings
    assert f"{tmp_path}/bb/nodes/a.json" in brings
    assert brings.endswith("$(wf_submit_dir)/a.in.lof") == bool(more)
    assert lines[-1] == "queue"


def test_a_job_of_the_submit_host_stays_as_it_is(tmp_path: Path) -> None:
    text = JOB.format(more="", universe="local")
    assert travelling(tmp_path, text) == text.splitlines()


def test_a_staged_program_gets_its_mode_on_the_tier(tmp_path: Path) -> None:
    """pegasus-plan lets Kickstart start chmod on the submit host, with a path that is
    none there."""
    file = tmp_path / "chmod_mix_A_0.sub"
    lines = ["universe = local", "executable = /opt/pegasus-kickstart"]
    file.write_text("\n".join(["", *lines, 'arguments = " /bin/chmod +x /bb/x"', ""]))
    node = Node("chmod_mix_A_0", file.name)
    start_by_launch(tmp_path, Dag({node.name: node}), "/submit/bb/bin/launch")
    text = file.read_text()
    assert "executable = /submit/bb/bin/launch\n" in text
    assert 'arguments = "/opt/pegasus-kickstart  /bin/chmod +x /bb/x"' in text


class TestWithPegasus:
    pytestmark = MARKS

    def test_kickstart_runs_where_the_submit_directory_is_not_seen(
        self, tmp_path: Path
    ) -> None:
        if why := what_is_missing():
            pytest.skip(why)
        runner = WorkflowRunner(tmp_path, submit_dir="local")
        runner.plan("persistent", "--bb-python", str(python_of_nodes(tmp_path)))
        assert runner.run() == "hello\n"
        assert runner.standing == []
