"""A reader, and the folder in which the tutorials leave him."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.docs.shell_session import Session, steps

ROOT = Path(__file__).resolve().parents[2]
YOUR_WORKFLOW = ROOT / "docs" / "tutorials" / "your-workflow.md"


def environ(home: Path) -> dict[str, str]:
    """That of a reader with a home of his own."""
    home.mkdir(exist_ok=True)
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "USER": "reader",
        "LANG": "C.UTF-8",
        "COLUMNS": "200",
        "PEGASUS_BB": str(ROOT),
    }


def follow(session: Session, page: Path) -> None:
    for step in steps(page):
        session.do(step)


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader of `your own workflow` is at its end."""
    folder = tmp_path_factory.mktemp("reader") / "words"
    folder.mkdir()
    with Session(folder, environ(folder.parent / "home")) as session:
        follow(session, YOUR_WORKFLOW)
    return folder
