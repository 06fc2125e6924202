"""Places of a request: one look at all of them decides as a look at each does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.runtime.stager_client.dataspace import (
    Dataspace,
    check_places,
    parse_place,
)
from pegasus_bb.runtime.stager_client.protocol import Refused

SPACES = {name: Dataspace(name, f"/{name}") for name in ("bb", "bb2", "x-y")}
PIECES = ("/", ".", "..", "\n", "\0", "\t", "a", " ", "~", "\x7f", "é", "\ud800")
places = st.builds(
    lambda head, pieces: head + "".join(pieces),
    st.sampled_from(["bb://", "bb2://", "x-y://", "pfs://", "bb:/", ""]),
    st.lists(st.sampled_from(PIECES), max_size=5),
)


def is_refused(place: str) -> bool:
    try:
        return not parse_place(place, SPACES).parts
    except Refused:
        return True


@given(st.lists(places, min_size=1, max_size=4))
def test_all_together_and_each(urls: list[str]) -> None:
    if any(map(is_refused, urls)):
        with pytest.raises(Refused):
            check_places(urls, SPACES)
    else:
        check_places(urls, SPACES)


@pytest.mark.parametrize("between", ["", "\nbb://a"])
def test_a_place_is_no_longer_than_a_path_may_be(between: str) -> None:
    long = "bb://" + between + "a" * 2000 + between + "/" + "a" * 2091
    check_places([long[:4096]], SPACES)
    with pytest.raises(Refused, match="at most 4096 characters"):
        check_places(["bb://b", long[:4090] + "a" * 7], SPACES)
