"""Every command block of the tutorials and how-tos does what its page says."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.shell_session import Session, TitledFile, starting_folder, steps

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
YOUR_WORKFLOW = DOCS / "tutorials" / "your-workflow.md"
COMPARING = DOCS / "tutorials" / "comparing-runs.md"
CONTINUED = (COMPARING, DOCS / "tutorials" / "your-site.md")  # in that folder
OF_WORDS = [p for p in sorted(DOCS.glob("how-to/*.md")) if starting_folder(p)]


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


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader of `your own workflow` is at its end."""
    folder = tmp_path_factory.mktemp("reader") / "words"
    folder.mkdir()
    with Session(folder, environ(folder.parent / "home")) as session:
        follow(session, YOUR_WORKFLOW)
    return folder


def in_words(words: Path, folder: Path) -> Session:
    """A shell in a copy of that folder, with the variables of the tutorial."""
    shutil.copytree(words, folder / "words", symlinks=True)
    words = folder / "words"
    names = ("scratch", "fast", "results")
    variables = {name.upper(): str(words / name) for name in names}
    return Session(words, {**environ(folder / "home"), **variables})


@pytest.mark.parametrize("page", CONTINUED, ids=lambda page: page.stem)
def test_a_tutorial_that_continues(words: Path, tmp_path: Path, page: Path) -> None:
    with in_words(words, tmp_path) as session:
        follow(session, page)


@pytest.mark.sweep
@pytest.mark.parametrize("page", OF_WORDS, ids=lambda page: page.stem)
def test_a_how_to(words: Path, tmp_path: Path, page: Path) -> None:
    with in_words(words, tmp_path) as session:
        follow(session, page)


def test_the_first_run(tmp_path: Path) -> None:
    copy = tmp_path / "pegasus_bb"
    shutil.copytree(ROOT / "examples", copy / "examples")
    with Session(copy, environ(tmp_path / "home")) as session:
        follow(session, DOCS / "tutorials" / "first-run.md")


def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '```sh title="a.sh"\necho one\n```\n```console\n$ sh a.sh\ntwo\n```\n'
    )
    file, command = steps(page)
    assert file == TitledFile("a.sh", "echo one\n")
    with Session(tmp_path, environ(tmp_path / "home")) as session:
        session.do(file)
        with pytest.raises(AssertionError, match="the page says\ntwo"):
            session.do(command)
