"""Files of site local reach the buffer: the site's own jobs read them by path."""

from __future__ import annotations

from typing import Any

import pytest

from pegasus_bb.planner.pegasus.pegasus_inputs import programs_on_site, replicas_by_path


def replicas(*pfns: dict[str, str]) -> dict[str, Any]:
    return {"pegasus": "5.0", "replicas": [{"lfn": "f", "pfns": list(pfns)}]}


def test_a_url_of_a_file_here_becomes_a_path() -> None:
    said = {"site": "local", "pfn": "file:///home/me/a b%20c"}
    assert replicas_by_path(replicas(said)) == replicas(
        {"site": "local", "pfn": "/home/me/a b%20c"}
    )


@pytest.mark.parametrize(
    ("site", "pfn"),
    [
        ("cori", "file:///lus/f"),  # may become a link
        ("far", "file:///lus/f"),  # its folders may not be shared
        ("local", "https://here/f"),
        ("local", "/home/me/f"),
    ],
)
def test_other_replicas_stay_as_they_are(site: str, pfn: str) -> None:
    said = replicas({"site": site, "pfn": pfn})
    assert replicas_by_path(said) == said


def program(*places: dict[str, str]) -> dict[str, Any]:
    return {"transformations": [{"name": "p", "sites": list(places)}]}


def test_a_program_that_is_staged_from_here_is_staged_from_the_site() -> None:
    said = {"name": "local", "pfn": "/home/me/p", "type": "stageable", "arch": "x86_64"}
    assert programs_on_site(program(said), "cori") == program({**said, "name": "cori"})


@pytest.mark.parametrize(
    "places",
    [
        [{"name": "local", "pfn": "/bin/p", "type": "installed"}],
        [{"name": "local", "pfn": "https://here/p", "type": "stageable"}],
        [
            {"name": "local", "pfn": "/home/me/p", "type": "stageable"},
            {"name": "cori", "pfn": "/bin/p", "type": "installed"},
        ],
    ],
)
def test_other_programs_stay_as_they_are(places: list[dict[str, str]]) -> None:
    said = program(*places)
    assert programs_on_site(said, "cori") == said
