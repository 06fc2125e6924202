"""The part of typing that code on nodes uses: importing all of it takes a third of the
time of a start.

Standard library only and Python 3.9: this file travels to compute nodes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter  # as collections itself does

    class _Methods(tuple):
        """What collections.namedtuple writes anew for each class; importing collections
        takes a tenth of a start."""

        __slots__ = ()

        def __new__(cls, /, *values, **named):
            fields = cls._fields
            if named or len(values) != len(fields):
                values = _complete(cls, values, named)
            return tuple.__new__(cls, values)

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            shown = (f"{name}={value!r}" for name, value in zip(self._fields, self))
            return f"{type(self).__name__}({', '.join(shown)})"

        def _asdict(self):
            return dict(zip(self._fields, self))

        def _replace(self, **changed):
            return type(self)(**{**self._asdict(), **changed})

    def _complete(cls, values, named):
        """The values of all fields. Raises TypeError."""
        fields = cls._fields
        given = dict(zip(fields, values))
        known = {**cls._field_defaults, **given, **named}
        twice = given.keys() & named.keys()
        wrong = [name for name in named if name not in fields]
        missing = [name for name in fields if name not in known]
        if len(values) > len(fields) or twice or wrong or missing:
            what = [*twice, *wrong, *missing] or values[len(fields) :]
            raise TypeError(f"{cls.__name__}: {what}: its fields are {fields}")
        return [known[name] for name in fields]

    class _Maker(type):
        """Makes a named tuple of each class that names NamedTuple as its base."""

        def __new__(meta, name, bases, body):
            if not bases:
                return super().__new__(meta, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            own = {
                **body,
                "__slots__": (),
                "_fields": fields,
                "_field_defaults": {k: body[k] for k in fields if k in body},
                **{key: _tuplegetter(n, "") for n, key in enumerate(fields)},
            }
            return type(name, (_Methods,), own)

    class NamedTuple(metaclass=_Maker):
        """As typing.NamedTuple, whose annotations have to be strings."""
