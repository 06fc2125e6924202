"""Lists of hosts as Slurm writes them."""

from __future__ import annotations

import pytest

from pegasus_bb.stager.nodes.hostlist import expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n1,m.site", ["n1", "m.site"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10,2],login", ["n08", "n09", "n10", "n2", "login"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("n1,n[1-2]", ["n1", "n2"]),
        ("", []),
    ],
)
def test_each_has_its_names(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    "text",
    ["n[1-", "n[a]", "../n1", "n[1]/..", ".n1", "n 1", "n[]"],
)
def test_what_could_be_no_folder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no list of"):
        expand(text)
