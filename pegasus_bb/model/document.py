"""A YAML or JSON file of Pegasus's: read once, nothing lost, every key has a line.

The data is what the file holds, in its order, known or not. Lines are found by a
second, slower reading, and only when an error has to name one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.expand import expand
from pegasus_bb.model.parse import parse

Data: TypeAlias = dict[str, Any]
Key: TypeAlias = "str | int"


@dataclass(frozen=True)
class Document:
    """``data`` as ``path`` holds it; ``text`` is what was read, variables expanded."""

    path: Path
    data: Data
    text: str = ""
    root: tuple[str, ...] = ()  # where in the file ``data`` begins

    def with_data(self, data: Data) -> Document:
        """The same file with other contents: what a rewriting pass gives back."""
        return replace(self, data=data)

    def below(self, key: str) -> Document:
        """The mapping under ``key`` as a document of its own, same file and lines."""
        return replace(self, data=self.data[key], root=(*self.root, key))

    def line(self, keys: Sequence[object]) -> int:
        """The line (from 1) of the value under ``keys``, or of its nearest parent."""
        from pegasus_bb.model.lines import line_of  # its import costs, errors are few

        return line_of(self.text, (*self.root, *keys))

    def error(
        self,
        what: str,
        keys: Sequence[object] = (),
        found: object = "",
        would_do: str = "",
    ) -> CatalogError:
        """An error about the value under ``keys``, with its file and line."""
        return CatalogError(
            what,
            file=str(self.path),
            line=self.line(keys),
            key=".".join(str(key) for key in (*self.root, *keys)),
            found=str(found),
            would_do=would_do,
        )


def load(path: Path, variables: Mapping[str, str]) -> Document:
    """Read ``path``, a mapping in YAML or JSON, with ``${VAR}`` expanded.

    Raises CatalogError: no such file, not YAML, not a mapping, unset variable.
    """
    data, text = load_value(path, variables)
    if not isinstance(data, dict):
        raise CatalogError(
            "is not a mapping of keys to values",
            file=str(path),
            line=1,
            found=type(data).__name__,
            would_do="see the Pegasus 5 reference for this file's keys",
        )
    return Document(path, data, text)


def load_value(path: Path, variables: Mapping[str, str]) -> tuple[Any, str]:
    """Whatever ``path`` holds, a mapping or not, and its text. Raises as ``load``."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors may put a BOM in front
    except OSError as error:
        raise CatalogError(
            f"cannot be read: {error.strerror}", file=str(path)
        ) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8 text", file=str(path)) from error
    except ValueError as error:  # NUL, or half a surrogate pair
        raise CatalogError(
            "is not the name of a file", found=repr(str(path))
        ) from error
    text = expand(text, variables, str(path))
    return parse(text, path), text


def dump(data: Data) -> bytes:
    """``data`` as JSON, which every YAML reader takes, in the order of its keys."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(data, option=option)


def as_json(data: Any) -> bytes:
    """As every small JSON file of a submit directory is written."""
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
