"""The planned prefix (`/bb/<name>`) -> the real path, wherever a job can meet it."""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, Mapping, Pattern

# What may stand beside a path inside a name; bytes that are no text included.
_NAME = r"\w.~%+\-\udc80-\udcff"
# Before a path: no name at all, an option letter (-I/bb/x), or a URL's own host.
_BEFORE = rf"(?:(?<![{_NAME}])|(?<=^-[A-Za-z])|(?<=\s-[A-Za-z])|(?<=//localhost))"


class Binding:
    """One planned prefix and the path that stands for it in this job.

    Binds only at a path boundary (`/bb/pbbX/f`, not `/bb/pbbXY`), and is idempotent:
    a path that is already real stays as it is, even where it ends like the prefix
    (`/fast/bb/pbbX`).
    """

    def __init__(self, prefix: str, real: str) -> None:
        self.prefix = prefix.rstrip("/")
        self.real = real.rstrip("/")
        planned = rf"{_BEFORE}{re.escape(self.prefix)}(?![{_NAME}])"
        # An already real path is matched first, and replaced by itself.
        pattern = rf"{re.escape(self.real)}(?![{_NAME}])|{planned}"
        self._pattern: Pattern[str] = re.compile(pattern)

    def folders(self) -> List[str]:
        """The real folders that paths are bound to."""
        return [self.real]

    def text(self, text: str) -> str:
        """``text`` with the real path in it."""
        if self.prefix not in text:
            return text
        return self._pattern.sub(lambda match: self.real, text)

    def line(self, data: bytes) -> bytes:
        """``data`` with the real path in it; what is no UTF-8 passes unchanged."""
        if self.prefix.encode() not in data:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self.text(text).encode("utf-8", "surrogateescape")

    def argv(self, argv: Iterable[str]) -> List[str]:
        """An argument list with the real path in it."""
        return [self.text(argument) for argument in argv]

    def environ(self, environ: Mapping[str, str]) -> Dict[str, str]:
        """An environment with the real path in its values."""
        return {name: self.text(value) for name, value in environ.items()}


class Nested(Binding):
    """A folder below the planned prefix that has a place of its own in this job."""

    def __init__(self, planned: str, real: str, outer: Binding) -> None:
        super().__init__(planned, real)
        self._outer = outer

    def folders(self) -> List[str]:
        """As of a Binding: this one's own and the outer one's."""
        return [self.real, *self._outer.folders()]

    def text(self, text: str) -> str:
        """``text`` with the real paths in it."""
        return self._outer.text(super().text(text))
