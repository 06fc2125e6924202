"""Properties may be profiles of a site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pegasus_bb.model.document import Document
from pegasus_bb.model.site_properties import with_site_properties

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
