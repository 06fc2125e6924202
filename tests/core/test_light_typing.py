"""A named tuple of nodes is as one of typing, which takes longer to load."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from pegasus_bb.core import light_typing


class Light(light_typing.NamedTuple):
    """A file."""

    name: str
    size: int = 0

    def __str__(self) -> str:
        return f"{self.name} of {self.size}"


class Real(typing.NamedTuple):
    name: str
    size: int = 0


def test_it_is_made_changed_and_shown_as_one_of_typing() -> None:
    light, real = Light("a", size=3), Real("a", size=3)
    assert light == real == ("a", 3)
    assert repr(light) == repr(real).replace("Real", "Light")
    assert light._replace(size=4) == real._replace(size=4)
    assert light._asdict() == real._asdict()
    assert Light._fields == Real._fields
    assert Light("b") == ("b", 0)
    assert str(light) == "a of 3"


def test_it_is_copied_and_sent_to_another_process() -> None:
    light = Light("a", 3)
    for other in (copy.deepcopy(light), pickle.loads(pickle.dumps(light))):  # noqa: S301 - our own
        assert (other, type(other)) == (light, Light)


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", 1, 2), {}), (("a",), {"name": "b"}), (("a",), {"age": 1})],
)
def test_values_that_do_not_fit_are_refused(
    values: tuple[object, ...], named: dict[str, object]
) -> None:
    for kind in (Light, Real):
        with pytest.raises(TypeError):
            kind(*values, **named)  # type: ignore[arg-type]
