"""Whether the tags of a page fit together."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any


class Balanced(HTMLParser):
    """Fails where a tag is not closed by its own."""

    _ALONE = ("meta", "path", "rect")

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in self._ALONE:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self._ALONE:
            assert self._open.pop() == tag
