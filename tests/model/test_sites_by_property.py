"""What properties say of sites: a catalog below the user's own, and profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.model.document import Document
from pegasus_bb.model.sites_by_property import with_repository, with_site_properties

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


KEY = "pegasus.catalog.site.sites."


def profiles(*sites: dict[str, Any], **properties: str) -> list[Any]:
    named = {KEY + key: value for key, value in properties.items()}
    document = Document(Path("sites.yml"), {"sites": list(sites)})
    found = with_site_properties(document, named).data["sites"]
    return [site.get("profiles") for site in found]


def test_a_property_wins_over_the_profile_of_the_catalog() -> None:
    own = {"pegasus": {"queue": "debug", "style": "glite"}, "env": {"LANG": "C"}}
    site = {"name": "a.b", "profiles": own}
    properties = {
        "a.b.profiles.pegasus.queue": "long",
        "a.b.profiles.pegasus.data.configuration": "sharedfs",
        "other.profiles.pegasus.queue": "none",
    }
    pegasus = {"queue": "long", "style": "glite", "data.configuration": "sharedfs"}
    assert profiles(site, {"name": "c"}, **properties) == [
        {"pegasus": pegasus, "env": {"LANG": "C"}},
        None,
    ]
    assert own["pegasus"]["queue"] == "debug", "the catalog itself stays as it is"
