"""A YAML or JSON file of Pegasus, without loss, and with a line for every key.

The data has all keys in their order, known or not, by Pegasus's conventions: only true
and false are booleans, and dates stay text. Line numbers need a second, slower parse,
which happens only when an error has to name one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import orjson
from ryaml import InvalidYamlError, loads  # type: ignore[attr-defined]

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.units import parse_size

Data: TypeAlias = dict[str, Any]
Key: TypeAlias = "str | int"

_VARIABLE = re.compile(r"(\\?)\$\{([^}]*)\}")
_DEEPEST = 20  # variables inside variables
# No path or argument is longer. Ten variables, each with ten times the one before,
# would fill the memory of any machine.
_LONGEST = 1 << 20  # characters of one value
_LARGE = 1 << 20  # characters
_LONGEST_TEXT = 1 << 28  # of a file after expansion
_MOST_NAMES = 20  # of files in an error
_SHORT = 5  # letters
_CATALOGS = ("sites.yml", "replicas.yml", "transformations.yml")


@dataclass(frozen=True)
class Document:
    """The ``data`` of file ``path``; ``text`` is its text with variables expanded."""

    path: Path
    data: Data
    text: str = ""
    root: tuple[str, ...] = ()  # where in the file ``data`` begins

    def with_data(self, data: Data) -> Document:
        """The same file with other contents, as a rewriting pass returns it."""
        return replace(self, data=data)

    def below(self, key: str) -> Document:
        """The mapping under ``key`` as a document of its own, same file and lines.
        Raises CatalogError."""
        data = self.entry().mapping(key)
        return replace(self, data=data, root=(*self.root, key))

    def entry(self, *keys: Key) -> Entry:
        value: Any = self.data
        for key in keys:
            value = value[key]
        return Entry(self, keys, value)

    def at(self, keys: Sequence[object]) -> tuple[Document, Sequence[object]]:
        """The document that ``keys`` are from, and their keys there."""
        return self, keys

    def line(self, keys: Sequence[object]) -> int:
        from pegasus_bb.model.document_faults import line_of  # slow to import

        document, there = self.at(keys)
        return line_of(document.text, (*document.root, *there))

    def place(self, keys: Sequence[object] = ()) -> str:
        """FILE:LINE of ``keys``, for a person."""
        line = self.line(keys)
        path = self.at(keys)[0].path
        return f"{path}:{line}" if line else str(path)

    def error(
        self,
        what: str,
        keys: Sequence[object] = (),
        found: object = "",
        would_do: str = "",
    ) -> CatalogError:
        document, there = self.at(keys)
        return CatalogError(
            what,
            file=str(document.path),
            line=self.line(keys),
            key=".".join(str(key) for key in (*document.root, *there)),
            found=str(found),
            would_do=would_do,
        )


@dataclass(slots=True)
class Entry:
    """A value of a document, and its keys. The methods raise CatalogError."""

    document: Document
    at: tuple[Key, ...]
    data: Any

    @property
    def key(self) -> str:
        """The last of its keys."""
        return str(self.at[-1]) if self.at else ""

    def below(self, *keys: Key) -> Entry:
        """The value under ``keys``; None if there is none."""
        value = self.data
        for key in keys:
            value = value.get(key) if isinstance(key, str) else value[key]
        return Entry(self.document, (*self.at, *keys), value)

    def error(
        self, what: str, found: object = None, would_do: str = ""
    ) -> CatalogError:
        shown = self.data if found is None else found
        return self.document.error(what, self.at, shown, would_do)

    def size(self, what: str = "", would_do: str = "") -> int:
        """This value in bytes. ``what`` precedes the text of an error."""
        try:
            return parse_size(self.data)
        except UsageError as error:
            raise self.error(f"{what}{error}", would_do=would_do) from error

    def flag(self, key: str, *, default: bool) -> bool:
        """The truth under ``key``; Pegasus takes no word but true and false."""
        value = self.data.get(key, default)
        if value is True or value is False:
            return value
        raise self.below(key).error(f"{key} is true or false", repr(value), "true")

    def items(self, key: str) -> list[Any]:
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.below(key).error(f"{key} are a list", would_do=f"{key}: [...]")
        return value

    def entries(self, key: str, what: str, *needs: str) -> list[Entry]:
        """The items of the list under ``key``: each is ``what`` and has ``needs``."""
        entries = []
        for place, item in enumerate(self.items(key)):
            entry = Entry(self.document, (*self.at, key, place), item)
            if not isinstance(item, dict) or not all(item.get(need) for need in needs):
                wanted = ", ".join(needs) or "a mapping"
                mend = f"- {{{', '.join(f'{need}: ...' for need in needs)}}}"
                raise entry.error(f"{what} needs: {wanted}", would_do=mend)
            entries.append(entry)
        return entries

    def mapping(self, key: str) -> Data:
        value = self.data.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.below(key).error(
                f"{key} is a mapping of keys to values",
                would_do=f"{key}: {{key: value}}",
            )
        return value

    def checksum(self) -> str:
        """The digest that the file of this entry must have, as sha256:...; empty if
        none is declared."""
        declared = self.mapping("checksum")
        if not declared:
            return ""
        (kind, value), *more = declared.items()
        known = str(kind).lower() == "sha256" and not more
        if not known or re.fullmatch("[0-9a-fA-F]{64}", str(value)) is None:
            raise self.below("checksum").error(
                "a checksum is of the kind sha256, with 64 hexadecimal digits",
                would_do="checksum: {sha256: ...}, which `sha256sum FILE` prints",
            )
        return f"sha256:{str(value).lower()}"

    def profiles(self) -> Data:
        profiles = self.data.get("profiles")
        if profiles is None:
            return {}
        if not isinstance(profiles, dict) or not all(
            isinstance(below, dict) for below in profiles.values()
        ):
            raise self.below("profiles").error(
                "profiles are a mapping of namespaces to keys and values",
                would_do="profiles: {pegasus: {runtime: 60}}",
            )
        return profiles

    def check_keys(self, known: Collection[str], what: str) -> None:
        """Refuse a key that is neither ``known`` nor an extension of a user's, x-."""
        strange = [key for key in self.data if key not in known]
        key = next((key for key in strange if not str(key).startswith("x-")), None)
        if key is not None:
            raise self.document.error(
                f"{what} has no such key",
                [*self.at, str(key)],
                key,
                suggestion(str(key), known),
            )


def suggestion(word: str, known: Collection[str], prefix: str = "") -> str:
    """The ``known`` words to use instead of ``word``, as text for an error."""
    close = closest(word, known)
    if close:
        return f"did you mean {prefix}{close[0]}?"
    return "one of " + ", ".join(prefix + each for each in known)


def closest(word: str, known: Collection[str]) -> list[str]:
    """The closest of the ``known`` words, if it has most of the letters of ``word``;
    one wrong letter is a third of a short word."""
    cutoff = 0.6 if len(word) < _SHORT else 0.7  # the part of the letters in common
    return get_close_matches(word, known, 1, cutoff)


def one_of(word: str, allowed: Collection[str]) -> str:
    """All ``allowed`` words, and the one closest to ``word``, as text for an error."""
    listed = "one of " + ", ".join(allowed)
    close = closest(word, allowed)
    return f"did you mean {close[0]}? It is {listed}" if close else listed


def load(path: Path, variables: Mapping[str, str]) -> Document:
    """Read ``path``, a mapping in YAML or JSON, with ``${VAR}`` expanded.

    Raises CatalogError: no such file, not YAML, not a mapping, unset variable.
    """
    data, text = load_value(path, variables)
    if not isinstance(data, dict):
        _refuse_old(text, path)
        raise CatalogError(
            "is not a mapping of keys to values",
            file=str(path),
            line=1,
            found="nothing" if data is None else type(data).__name__,
            would_do="lines of KEY: VALUE; the reference has the keys of this file",
        )
    return Document(path, data, text)


def load_value(path: Path, variables: Mapping[str, str]) -> tuple[Any, str]:
    """The value in ``path``, of any type, and its text. Raises as ``load`` does."""
    text = read_text(path, variables)
    return parse(text, path), text


def read_text(path: Path, variables: Mapping[str, str]) -> str:
    """The text in ``path``, with variables expanded. Raises as ``load`` does."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors may put a BOM in front
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        raise CatalogError(
            f"cannot be read: {error.strerror}",
            file=str(path),
            would_do=_files_beside(path) if is_missing else "",
        ) from error
    except UnicodeDecodeError as error:
        raise CatalogError("is not UTF-8 text", file=str(path)) from error
    except ValueError as error:  # NUL, or half a surrogate pair
        raise CatalogError("is not the name of a file", repr(str(path))) from error
    return expand(text, variables, str(path))


def _refuse_old(text: str, path: Path) -> None:
    """Raises CatalogError for a file of Pegasus 4."""
    from pegasus_bb.model.document_faults import old_form  # for errors only

    old = old_form(text, str(path))
    if old is not None:
        raise CatalogError(old[0], str(path), 1, would_do=old[1])


def _files_beside(path: Path) -> str:
    """The files of the same kind to name instead, as text for an error."""
    kind = path.suffix or ".yml"
    try:
        found = [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError as error:
        return f"the path of a file; {path.parent.resolve()}: {error.strerror}"
    names = sorted(name for name in found if name.endswith(kind) and name.isprintable())
    if not names or len(names) > _MOST_NAMES:
        few = "no" if not names else "many"
        return f"the path of a file; {path.parent.resolve()} has {few} files *{kind}"
    by_stem = {Path(name).stem: name for name in names}  # the ending is like all others
    close = get_close_matches(path.stem, by_stem, 1)
    if close:
        return f"did you mean {by_stem[close[0]]}?"
    others = [name for name in names if name not in _CATALOGS]  # none of them is meant
    return "one of " + ", ".join(others or names)


def as_json(data: Any) -> bytes:
    """``data`` as JSON, which every YAML reader takes, in the order of its keys."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    return orjson.dumps(data, option=option)


def plain(value: object) -> str:
    """A single value as text in the way of Pegasus: ``true``, not ``True``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def expand(text: str, variables: Mapping[str, str], file: str) -> str:
    r"""Replace ``${VAR}`` in every line, as Pegasus's VariableExpander does.

    The case of a name does not matter; ``\${VAR}`` becomes ``${VAR}``; a value may have
    variables in it; text after ``:-`` in a name is ignored and is no default. Raises
    CatalogError for a variable that is not set, or whose value grows too large.
    """
    if "${" not in text:
        return text
    known = {name.lower(): value for name, value in variables.items()}
    values: dict[str, str] = {}  # expanded values, each computed once
    lines = text.split("\n")
    length = 0
    for number, line in enumerate(lines, start=1):
        if "${" not in line:
            continue
        try:
            lines[number - 1] = _expanded(line, known, values)
            length += len(lines[number - 1])
            if length > _LONGEST_TEXT:
                raise _NotExpanded("variables make the file too long", "shorter values")
        except _NotExpanded as error:
            what, would_do = error.args
            raise CatalogError(
                what, file, number, key="", found=line.strip(), would_do=would_do
            ) from None
    return "\n".join(lines)


class _NotExpanded(Exception):
    """A variable that cannot be expanded: what is wrong, and what would do."""


def _expanded(
    text: str, known: Mapping[str, str], values: dict[str, str], depth: int = 0
) -> str:
    def value(match: re.Match[str]) -> str:
        if match.group(1):
            return match.group(0)[1:]
        name = match.group(2).partition(":-")[0]
        key = name.lower()
        if key not in values:
            would_do = f"export {name}=VALUE before planning, or write the value"
            if key not in known or depth > _DEEPEST:
                why = "never ends" if depth > _DEEPEST else "is not set"
                raise _NotExpanded(f"the variable ${{{name}}} {why}", would_do)
            values[key] = _expanded(known[key], known, values, depth + 1)
            if len(values[key]) > _LONGEST:
                why = f"has more than {_LONGEST} characters"
                raise _NotExpanded(f"the variable ${{{name}}} {why}", would_do)
        return values[key]

    return _VARIABLE.sub(value, text)


def parse(text: str, path: Path) -> Any:
    """The value of ``text``, the contents of ``path``. Raises CatalogError."""
    if text.lstrip().startswith("{"):
        try:
            return orjson.loads(text)
        except ValueError:
            pass  # flow-style YAML begins with a brace as well
    try:
        data = loads(text)
        if len(text) > _LARGE:
            _give_back_memory()
        # The fast parser does not apply YAML 1.1's merge keys.
        return _merged(data) if "<<" in text else data
    except (InvalidYamlError, ValueError, TypeError, RecursionError) as error:
        from pegasus_bb.model.document_faults import fault_line  # slow to import

        _refuse_old(text, path)
        message = str(error) or "nested too deeply"
        named = re.search(r"line (\d+)", message)
        line = int(named.group(1)) if named else fault_line(text)
        raise CatalogError(
            f"is not YAML: {message.splitlines()[0]}",
            file=str(path),
            line=line,
            would_do="a tab; indent with spaces" if _has_tab(text, line) else "",
        ) from error


def _give_back_memory() -> None:
    """Let the C library return what the parser has freed: with a workflow of 100,000
    jobs that is more than half of our memory."""
    # A Python without ctypes, or another C library than glibc, does without.
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # only a large text needs it

        ctypes.CDLL(None).malloc_trim(0)


def _has_tab(text: str, line: int) -> bool:
    """Whether a tab indents ``line``, counted from 1, which YAML does not allow."""
    shown = "".join(text.split("\n")[max(line - 1, 0) : line])  # it may be past the end
    return "\t" in shown[: len(shown) - len(shown.lstrip())]


def _merged(data: Any) -> Any:
    if isinstance(data, list):
        return [_merged(item) for item in data]
    if not isinstance(data, dict):
        return data
    own = {key: _merged(value) for key, value in data.items() if key != "<<"}
    if "<<" not in data:
        return own
    sources = data["<<"] if isinstance(data["<<"], list) else [data["<<"]]
    if not all(isinstance(source, dict) for source in sources):
        return {"<<": data["<<"], **own}
    below: dict[Any, Any] = {}
    for source in reversed(sources):
        below.update(_merged(source))
    return {**below, **own}
