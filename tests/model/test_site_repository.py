"""Sites of a repository catalog stand below the user's own."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.model.document import Document
from pegasus_bb.model.site_repository import with_repository

REPOSITORY = """
sites:
  - name: expanse
    arch: x86_64
    directories: [{type: sharedScratch, path: /expanse/scratch}]
    profiles:
      pegasus: {style: glite, queue: compute}
      env: {PEGASUS_HOME: /opt/pegasus}
  - {name: other}
"""
OWN = {
    "name": "expanse",
    "profiles": {"pegasus": {"queue": "debug"}, "condor": {"a": 1}},
}


def merge(folder: Path, text: str = REPOSITORY) -> Document:
    (folder / "repo.yml").write_text(text)
    own = Document(folder / "sites.yml", {"sites": [{"name": "local"}, OWN]})
    return with_repository(own, folder / "repo.yml", {})


def test_what_the_user_says_of_a_site_wins_and_the_rest_is_added(
    tmp_path: Path,
) -> None:
    local, expanse, other = merge(tmp_path).data["sites"]
    assert (local, other) == ({"name": "local"}, {"name": "other"})
    assert expanse == {
        "name": "expanse",
        "arch": "x86_64",
        "directories": [{"type": "sharedScratch", "path": "/expanse/scratch"}],
        "profiles": {
            "pegasus": {"style": "glite", "queue": "debug"},
            "env": {"PEGASUS_HOME": "/opt/pegasus"},
            "condor": {"a": 1},
        },
    }
