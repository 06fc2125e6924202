"""Every command block of the tutorials and how-tos does what its page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.conftest import clone, environ, follow, in_words
from tests.docs.shell_session import Session, starting_folder

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
COMPARING = DOCS / "tutorials" / "comparing-runs.md"
CONTINUED = (COMPARING, DOCS / "tutorials" / "your-site.md")  # in that folder
OF_WORDS = [p for p in sorted(DOCS.glob("how-to/*.md")) if starting_folder(p)]


def shell(words: Path, folder: Path) -> Session:
    """A shell in a copy of that folder, with the variables of the tutorial."""
    shutil.copytree(words, folder / "words", symlinks=True)
    words = folder / "words"
    reader = environ(folder / "home", clone(folder / "repository"))
    reader["PATH"] += f":{folder}/repository/.venv/bin"
    return Session(words, {**reader, **in_words(words)})


@pytest.mark.sweep
@pytest.mark.parametrize("page", [*CONTINUED, *OF_WORDS], ids=lambda page: page.stem)
def test_a_page_that_goes_on_in_that_folder(
    words: Path, tmp_path: Path, page: Path
) -> None:
    with shell(words, tmp_path) as session:
        follow(session, page)


def test_the_first_run(tmp_path: Path) -> None:
    repository = clone(tmp_path / "pegasus_bb")
    with Session(repository, environ(tmp_path / "home", repository)) as session:
        follow(session, DOCS / "tutorials" / "first-run.md")
