"""A name that is taken says to Slurm what it says to us, and nothing more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import UsageError
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.backends.slurm import create_line, destroy_line
from tests.support.backend_contract import REQUEST

# Slurm looks for these with strstr(), anywhere in the line.
KEYWORDS = ["hurry", "name=", "capacity=", "pool=", "type=", "access="]
PIECES = ["pbb", "hurry", "HURRY", "name", *'= \n%\\"é1\uff21']
NAMES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
WORDS = st.text() | NAMES | st.from_regex(r"[A-Za-z][A-Za-z0-9]*", fullmatch=True)


def taken(request: Request) -> bool:
    try:
        create_line(request)
    except UsageError as error:
        assert "\n" not in str(error)
        return False
    return True


@given(name=WORDS, pool=st.just("") | WORDS, access=st.just("striped") | WORDS)
def test_a_directive_is_one_line_with_each_word_once(
    name: str, pool: str, access: str
) -> None:
    request = REQUEST._replace(name=name, pool=pool, access=access)
    if not taken(request):
        return
    line = create_line(request)
    found = dict(word.partition("=")[::2] for word in line.split(" ")[2:])
    wanted = {"name": name, "capacity": str(request.capacity), "access_mode": access}
    assert found == {**wanted, "type": "scratch", **({"pool": pool} if pool else {})}
    assert line.isascii() and line.isprintable()
    assert "hurry" not in line + destroy_line(request)
    for keyword in KEYWORDS[1:]:
        assert line.count(keyword) <= 1
