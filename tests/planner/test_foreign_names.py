"""Names in any script: jobs, ids, sites and the workflow, as their users write them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.dag.roles import Role, folder_nodes
from tests.support.pegasus_site import UserFolder

SITE = "⿔condor-pool⼤"
IDS = {"ID1": "λ1", "ID2": "μ1"}  # alike, but for their letters
GIVEN = ("--sites", SITE, "--output-sites", "local", "--dir", "submit")
DIRECTED = re.compile(r"^(JOB|PARENT|CATEGORY|PRIORITY|RETRY|VARS|SCRIPT) .*", re.M)


@pytest.fixture
def user(tmp_path: Path) -> UserFolder:
    """Nothing that the user has named is ASCII."""
    made = UserFolder(tmp_path)
    for file in ("sites.yml", "transformations.yml", "workflow.yml"):
        text = (made.work / file).read_text()
        for word, other in {
            "cori": SITE,
            "cat1": "pЯёcat",
            "demo": "blÅck",
            **IDS,
        }.items():
            text = text.replace(f'"{word}"', json.dumps(other))
        (made.work / file).write_text(text)
    with made.edited("transformations.yml") as data:
        own = data["transformations"][0]
        own["sites"][0]["pfn"] = str(made.work / "cat1.sh")
    return made


def call(user: UserFolder, mode: str) -> Any:
    words = ("--relative-submit-dir", "r", "--bb-planner", "builtin", "--bb-mode", mode)
    return user.bb("plan", *GIVEN, *words, "workflow.yml")


@pytest.mark.parametrize("mode", ["off", "persistent", "transient"])
def test_such_a_workflow_runs(user: UserFolder, mode: str) -> None:
    done = call(user, mode)
    assert done.returncode == 0, done.stderr
    assert user.run() == "hello\n"
    records = [p.read_text() for p in user.submit.glob("00/00/p*_1_*.out.000")]
    assert len(records) == 2
    assert all(f'resource: "{SITE}"' in text or SITE in text for text in records)


def test_nothing_foreign_is_in_a_line_of_the_dag(user: UserFolder) -> None:
    done = call(user, "persistent")
    assert done.returncode == 0, done.stderr
    (dag,) = user.submit.glob("*.dag")
    lines = [found[0] for found in DIRECTED.finditer(dag.read_text())]
    assert len(lines) > 10
    assert all(line.isascii() for line in lines)
    names = [line.split()[1] for line in lines if line.startswith("JOB")]
    assert folder_nodes(names, Role.CREATE_DIR, SITE) == [
        "create_dir_bl_ck_0__condor-pool_"
    ]


@pytest.mark.parametrize("letter", ["\u202e", "\u00a0", "\u2028", "\u200b"])
def test_what_cannot_be_printed_is_no_letter(user: UserFolder, letter: str) -> None:
    with user.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["name"] = f"a{letter}b"
    done = call(user, "off")
    assert done.returncode == 2
    assert "becomes part of the name of a DAG node" in " ".join(done.stderr.split())
