"""pegasus-bb init writes a file with which the next command works."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pegasus_bb.cli import cli, init
from tests.support.pegasus_site import SITES, UserFolder

BUILT_IN = ("--bb-planner", "builtin")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserFolder:
    """A workflow and its catalogs without a tier; no fast mount."""
    made = UserFolder(tmp_path)
    with made.edited("sites.yml") as sites:
        del sites["x-storage-tiers"]
    monkeypatch.chdir(made.work)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(init, "MOUNTS", ())
    return made


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, ["init", *words])


def said(*words: str) -> str:
    return str(call(*words).exception)


def test_the_file_is_for_the_one_site_and_can_be_planned_with(
    user: UserFolder,
) -> None:
    done = call("--path", "fast")
    assert done.exit_code == 0, done.output
    assert "bb.yml: edit it, then pegasus-bb check" in done.output
    words = ("plan", *SITES, *BUILT_IN, "--bb-mode", "persistent", "--dir", "submit")
    planned = user.bb(*words, "--relative-submit-dir", "r", "--bb-capacity", "10MiB")
    assert planned.returncode == 0, planned.stderr
    assert user.run() == "hello\n"


def test_an_unstated_path_is_asked_for(user: UserFolder) -> None:
    call()
    done = user.bb("explain", *SITES, *BUILT_IN, "workflow.yml")
    assert done.returncode == 2
    assert "bb.yml:8: the variable ${BB_PATH} is not set" in done.stderr


def test_a_file_is_replaced_by_force_alone(user: UserFolder) -> None:
    (user.work / "bb.yml").write_text("mine")
    assert "bb.yml is there already; --force replaces it" in said()
    assert (user.work / "bb.yml").read_text() == "mine"
    assert call("--force").exit_code == 0
    assert "x-storage-tiers" in (user.work / "bb.yml").read_text()


def test_the_site_is_asked_for_where_there_are_several(user: UserFolder) -> None:
    with user.edited("sites.yml") as sites:
        sites["sites"].append({"name": "⿔pool"})
    assert "several sites; say which: one of cori, ⿔pool" in said()
    assert '  "⿔pool":  #' in call("⿔pool", "--output", "-").output
    (user.work / "sites.yml").unlink()
    assert "  condorpool:  #" in call("--output", "-").output
