"""Reading a page: whether its tags fit together, and what it says without scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any


class Balanced(HTMLParser):
    """Fails unless each end tag closes the last open tag."""

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


def without_scripts(text: str) -> str:
    return re.sub(r"<script\b.*?</script>", "", text, flags=re.DOTALL)


def chart_texts(text: str) -> list[str]:
    """Every string of every chart, as a browser gets it."""
    specs = re.findall(r'<script type="application/json">(.*?)</script>', text)
    return [found for spec in specs for found in _strings(json.loads(spec))]


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, dict | list):
        for item in found.values() if isinstance(found, dict) else found:
            yield from _strings(item)
    elif isinstance(found, str):
        yield found
