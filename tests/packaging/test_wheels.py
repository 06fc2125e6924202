"""A wheel or an sdist in an empty environment is a whole pegasus-bb."""

from __future__ import annotations

import os
import re
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
    "--bb-mode",
    "persistent",
    "--bb-capacity",
    "64MiB",
    "--sites",
    "cluster",
    "--output-sites",
    "local",
]


def project(folder: Path) -> Path:
    """A copy of the project; building leaves files in its folder."""
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / "project" / name, ignore=ignored)
    for name in _FILES:
        shutil.copy(ROOT / name, folder / "project")
    return folder / "project"


def wheel(source: Path, folder: Path, pure: str) -> Path:
    words = ["wheel", "--no-deps", "--wheel-dir", folder, source]
    environment = {**os.environ, "PEGASUS_BB_PURE": pure}
    subprocess.run([*pip(sys.executable), *words], env=environment, check=True)
    found = next(folder.glob("*.whl"))
    assert found.name.endswith("-none-any.whl") == (pure == "1")
    assert "-py3-none-" in found.name
    return found


def sdist(folder: Path) -> Path:
    build = [sys.executable, "-m", "build", "--sdist", "--outdir", folder, "."]
    subprocess.run(build, cwd=project(folder), check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.tar.gz"))


MADE = {
    "pure": lambda folder: wheel(project(folder), folder, "1"),
    "with the helper, from the sdist": lambda f: wheel(sdist(f), f, "0"),
}


def install(what: Path, place: Path) -> None:
    """The commands of the page on installing for all users, with these paths."""
    page = (ROOT / "docs/how-to/install-for-all.md").read_text()
    block = re.search(r"(?s)^```sh\n(.*?)^```", page, re.MULTILINE)
    assert block is not None
    told = block[1].replace("/opt/pegasus-bb-users", str(place))
    told = told.replace("/path/to/pegasus_bb", str(what))
    assert told.count(str(place)) == 2
    assert told.count(str(what)) == 1
    quiet = {**os.environ, "PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(["bash", "-ec", told], env=quiet, check=True)


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


@pytest.mark.parametrize("kind", MADE)
def test_what_is_installed_into_an_empty_environment(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "environment"
    install(MADE[kind](tmp_path), place)
    share = place / "share" / "pegasus-bb"
    hooks = ("planner-hooks/pegasus-plan", "planner-hooks/pegasus-version")
    for name in (*hooks, "pre-scripts/bb-gate"):
        assert (share / name).is_file()
    helpers = list(place.rglob("_small*.so"))
    assert bool(helpers) == (kind != "pure" and shutil.which("cc") is not None)
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
    assert "COMP_WORDS" in say("completion", "bash")
