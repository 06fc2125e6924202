"""docs/slurm-lua.md says what the service and burst_buffer.lua do."""

from __future__ import annotations

import json
import pwd
import re
from pathlib import Path

import pytest

from pegasus_bb.stager.capabilities import NEEDED
from pegasus_bb.stager.site_config import node_config, site_config
from pegasus_bb.stager.slurm import questions
from pegasus_bb.stager.slurm.directives import parse_directives
from tests.support.slurm_stager import SUCCESS, Hooks
from tests.support.stager import ME

PAGE = (Path(__file__).parents[3] / "docs" / "slurm-lua.md").read_text()
SCRIPTS = [s for s in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "#!" in s]
BLOCKS = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


NAMES = ["own", "nodes", "store", "use", "prepare", "solve", "save"]


@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_slurm_takes_its_job_scripts(tmp_path: Path, script: str) -> None:
    lines = [line for line in script.splitlines() if line.startswith("#BB_LUA")]
    info = {"burst_buffer": "\n".join(lines)}
    hooks = Hooks(tmp_path)
    assert hooks.call("job_process", script, ME, ME, info) == (SUCCESS, "")
    parse_directives(lines)


def test_the_service_takes_its_configuration(tmp_path: Path) -> None:
    text, nodes, of_node = BLOCKS
    data = json.loads(text)
    data["slurm"].update(json.loads(f"{{{nodes}}}"))
    data["slurm"]["user"] = pwd.getpwuid(ME).pw_name
    path = tmp_path / "stager.json"
    path.write_text(json.dumps(data))
    slurm = site_config(str(path)).slurm
    assert slurm is not None
    assert slurm.spool == "/var/spool/pegasus-bb"
    assert slurm.pools[0].granularity == 1 << 30
    path.write_text(of_node)
    node = node_config(str(path)).node
    assert node is not None and slurm.nodes is not None
    assert (node.path, node.mailbox) == (slurm.nodes.path, slurm.nodes.mailbox)
    assert slurm.nodes.timeout == 240


def test_it_lists_every_question_with_its_words() -> None:
    listed = PAGE[PAGE.index("### The questions") :]
    rows = re.findall(r"^\| `(\w+)([^`]*)` \|", listed, re.MULTILINE)
    keys = {verb: re.findall(r"(\w+)=", words) for verb, words in rows}
    known = questions._KEYS.items()
    assert keys == {verb: [key.rstrip("?") for key in every] for verb, every in known}


def test_it_names_the_capabilities_that_the_service_needs() -> None:
    [of_unit] = re.findall("^AmbientCapabilities=(.*)$", PAGE, re.MULTILINE)
    [by_hand] = re.findall("^capabilities=-all,(.*)$", PAGE, re.MULTILINE)
    assert set(of_unit.split()) == set(NEEDED)
    assert {f"CAP_{name[1:].upper()}" for name in by_hand.split(",")} == set(NEEDED)
