"""The part of typing that code on nodes uses: importing all of it takes a third of the
time of a start.

Standard library only and Python 3.9: this file travels to compute nodes.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Maker(type):
        """Makes a namedtuple of each class that names NamedTuple as its base."""

        def __new__(meta, name, bases, body):
            if not bases:
                return super().__new__(meta, name, bases, body)
            fields = list(body.get("__annotations__", ()))
            defaults = [body[field] for field in fields if field in body]
            whole = namedtuple(name, fields, defaults=defaults)
            own = {key: value for key, value in body.items() if key not in fields}
            return type(name, (whole,), {**own, "__slots__": ()})

    class NamedTuple(metaclass=_Maker):
        """As typing.NamedTuple, whose annotations have to be strings."""
