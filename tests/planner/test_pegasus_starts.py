"""Jobs that would start in a folder of the planned prefix start elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.planner.pegasus.complete_submit_dir import start_outside

SCRATCH = "/bb/pbb7c35e2ed6907/wfuser/pegasus/diamond/run0001"
ENVIRON = f'+remote_environment = "PEGASUS_SCRATCH_DIR={SCRATCH}"'
LINES = {  # as pegasus-plan 5.1.2 writes them
    "condor": "remote_initialdir = {}",
    "glite": '+remote_iwd = "{}"',
}


@pytest.mark.parametrize("style", LINES)
@pytest.mark.parametrize(
    ("name", "place"), [("merge_middle", "/tmp"), ("mix_A", SCRATCH)]
)
def test_a_cluster_starts_outside(
    tmp_path: Path, style: str, name: str, place: str
) -> None:
    """blahp held it: `cd: /bb/...: No such file or directory`."""
    file = tmp_path / f"{name}.sub"
    text = f"executable = launch\n{ENVIRON}\n{LINES[style]}\nqueue\n"
    file.write_text(text.format(SCRATCH))
    dag = Dag({name: Node(name, file.name)})
    start_outside(tmp_path, dag, "cluster", SCRATCH)
    assert file.read_text() == text.format(place)
