"""A reader, and the folder in which the tutorials leave him."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.shell_session import Session, steps

ROOT = Path(__file__).resolve().parents[2]
YOUR_WORKFLOW = ROOT / "docs" / "tutorials" / "your-workflow.md"
_MADE_BY_SETUP = (
    "Makefile",
    "pyproject.toml",
    "setup.py",
    "lab/pyproject.toml",
    "lab/setup.py",
)
# Older than any .venv: else `make setup` would install the copy into that of the tests.
_LONG_AGO = 1e9
_COPIED = ("examples", "site-catalogs")


def clone(folder: Path) -> Path:
    """A repository in which `make setup` has been said: its .venv is that of the
    tests."""
    ignored = shutil.ignore_patterns("run", "__pycache__")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in _MADE_BY_SETUP:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
        os.utime(folder / name, (_LONG_AGO, _LONG_AGO))
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def environ(home: Path, repository: Path) -> dict[str, str]:
    """That of a reader with a home of his own; PATH is what the system gives him."""
    home.mkdir(exist_ok=True)
    own = str(Path(sys.executable).parent)
    path = [each for each in os.environ["PATH"].split(":") if each != own]
    return {
        "PATH": ":".join(path),
        "HOME": str(home),
        "USER": "reader",
        "LANG": "C.UTF-8",
        "COLUMNS": "200",
        "PEGASUS_BB": str(repository),
    }


def in_words(words: Path) -> dict[str, str]:
    """The variables of the tutorial in that folder."""
    folders = {n.upper(): str(words / n) for n in ("scratch", "fast", "results")}
    return {**folders, "PWD": str(words)}


def follow(session: Session, page: Path) -> None:
    for step in steps(page):
        session.do(step)


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader of `your own workflow` is at its end. Beside it are
    his home and his repository."""
    folder = tmp_path_factory.mktemp("reader")
    reader = environ(folder / "home", clone(folder / "repository"))
    with Session(folder, reader) as session:
        follow(session, YOUR_WORKFLOW)
    return folder / "words"
