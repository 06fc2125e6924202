"""XML that others wrote -> elements. With limits: it may be anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

DEPTH_LIMIT = 32  # a Kickstart record has five levels
ELEMENT_LIMIT = 200_000  # some 20 MiB of text; a 1 MiB record has 6,000


@dataclass(slots=True)
class Element:
    """One element, with what stands in it."""

    name: str
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)  # of its text

    @property
    def text(self) -> str:
        """What is written between its tags, without that of its children."""
        return "".join(self.pieces)

    def every(self, name: str) -> Iterator[Element]:
        """Its children of that name."""
        return (child for child in self.children if child.name == name)

    def one(self, name: str) -> Element:
        """Its first child of that name; one without anything where it has none."""
        return next(self.every(name), Element(name, {}))


def parse(text: str) -> Element:
    """The root of the XML in ``text``. Raises ValueError, with a line where it can.

    A DOCTYPE is refused, and with it every entity that somebody could define.
    """
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.say
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text.encode("utf-8", errors="replace"), True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    return builder.roots[0]


class _Builder:
    """Puts elements together in the order in which expat meets them."""

    def __init__(self) -> None:
        self.roots: list[Element] = []
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) == DEPTH_LIMIT:
            raise ValueError(f"more than {DEPTH_LIMIT} elements in one another")
        self._count += 1
        if self._count > ELEMENT_LIMIT:
            raise ValueError(f"more than {ELEMENT_LIMIT} elements")
        element = Element(name, attributes)
        (self._open[-1].children if self._open else self.roots).append(element)
        self._open.append(element)

    def end(self, _: str) -> None:
        self._open.pop()

    def say(self, text: str) -> None:
        self._open[-1].pieces.append(text)


def _refuse(*_: object) -> None:
    raise ValueError("a DOCTYPE, which no record has")
