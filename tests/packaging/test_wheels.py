"""A wheel in an empty environment is a whole pegasus-bb."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, environ
from tests.docs.shell_session import TitledFile, steps

pytestmark = pytest.mark.sweep  # it installs from the network
_COPIED = ("pegasus_bb", "planner-hooks", "pre-scripts", "site-catalogs")
_FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
OPTIONS = [
    *("--bb-mode", "persistent", "--bb-capacity", "64MiB"),
    *("--sites", "cluster", "--output-sites", "local"),
]


def built(folder: Path, pure: str) -> Path:
    """A wheel of a copy of the project; building leaves files in its folder."""
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / "project" / name, ignore=ignored)
    for name in _FILES:
        shutil.copy(ROOT / name, folder / "project")
    subprocess.run(
        [*pip(sys.executable), "wheel", "--no-deps", "--wheel-dir", folder, "."],
        cwd=folder / "project",
        env={**os.environ, "PEGASUS_BB_PURE": pure},
        check=True,
    )
    return next(folder.glob("*.whl"))


def pip(python: str) -> list[str]:
    return [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def write_words(folder: Path, catalogs: Path) -> None:
    """The workflow of the tutorial, with the site catalog of the installation."""
    for step in steps(ROOT / "docs" / "tutorials" / "your-workflow.md"):
        if isinstance(step, TitledFile):
            path = folder / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            path.chmod(0o755)
    (folder / "text.txt").write_text("a text\n")
    shutil.copy(catalogs / "directory.yml", folder / "sites.yml")


@pytest.mark.parametrize("pure", ["1", "0"], ids=["pure", "with the helper"])
def test_a_wheel_in_an_empty_environment(tmp_path: Path, pure: str) -> None:
    wheel = built(tmp_path, pure)
    assert wheel.name.endswith("-none-any.whl") == (pure == "1")
    assert "-py3-none-" in wheel.name
    place = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    subprocess.run([*pip(str(place / "bin/python")), "install", wheel], check=True)
    share = place / "share" / "pegasus-bb"
    for name in ("planner-hooks/pegasus-plan", "pre-scripts/bb-gate"):
        assert (share / name).is_file()
    helpers = list(place.rglob("_small*.so"))
    assert bool(helpers) == (pure == "0" and shutil.which("cc") is not None)
    folder = tmp_path / "words"
    write_words(folder, share / "site-catalogs")
    storage = {name: str(folder / name) for name in ("SCRATCH", "FAST", "RESULTS")}
    home = {**environ(tmp_path / "home", ROOT), **storage, "PWD": str(folder)}

    def say(*words: str) -> str:
        command = [str(place / "bin/pegasus-bb"), *words]
        done = subprocess.run(
            command, cwd=folder, env=home, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert say("--version").startswith("pegasus-bb, version ")
    assert "capacity: 64.0 MiB" in say("explain", *OPTIONS, "workflow.yml")
    assert "planning works" in say("check", *OPTIONS, "workflow.yml")
    assert "export PATH=" in say("hook")
