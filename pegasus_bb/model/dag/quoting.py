"""HTCondor's new syntax for arguments and environment, both ways.

The value is in double quotes, a word with blanks in single quotes, and a quote inside
is doubled. ``$`` begins a macro; a submit file writes ``$(DOLLAR)`` for the character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import UsageError

# Words of these characters, one blank between two, need no quoting at all.
_HARMLESS = re.compile(r"(?:[\w./:=,@%+~^!?*&|<>(){}\[\]#\\-]+(?: |$))*", re.ASCII)
_ENV_NAME = re.compile(r"""[^\s='"$;\x00-\x1f\x7f]+""")
_NEEDS_QUOTES = re.compile(r"[\s']")
# HTCondor expands $$(name) when it matches a job; this expands to $$ itself.
_TWO_DOLLARS = "$$(DOLLARDOLLAR)"
_DOLLARS = re.compile(r"\$+([A-Za-z_]*[(\[])?")


def quote_arguments(arguments: Sequence[str]) -> str:
    """The value of ``arguments =`` that gives the job exactly ``arguments``.

    Raises UsageError for a newline or a NUL, which a submit file cannot carry.
    """
    text = " ".join(arguments)
    plain = text.count(" ") == len(arguments) - 1 and text[-1:] not in ("", " ")
    if plain and _HARMLESS.fullmatch(text):
        return f'"{text}"'
    return f'"{" ".join(map(_quoted, arguments))}"'


def quote_environment(environment: Mapping[str, str]) -> str:
    """The value of ``environment =``. Raises UsageError as ``quote_arguments`` does."""
    entries = []
    for name, value in environment.items():
        if _ENV_NAME.fullmatch(name) is None:
            raise UsageError(
                f"environment variable {name!r}: the name cannot stand in a submit "
                "file; use letters, digits and _"
            )
        plain = value and " " not in value and _HARMLESS.fullmatch(value)
        entries.append(f"{name}={value if plain or not value else _quoted(value)}")
    return f'"{" ".join(entries)}"'


def _quoted(word: str) -> str:
    if "\n" in word or "\0" in word or "\r" in word:
        raise UsageError(
            f"{word[:60]!r} cannot stand in a submit file: it holds a newline or NUL; "
            "put such text into a file and name the file"
        )
    escaped = word.replace("'", "''").replace('"', '""')
    if "$" in escaped:
        escaped = _DOLLARS.sub(_escape_macro, escaped)
    return f"'{escaped}'" if not word or _NEEDS_QUOTES.search(word) else escaped


def _escape_macro(match: re.Match[str]) -> str:
    """Escape a run of ``$`` and what follows, so that HTCondor expands no macro."""
    after = match[1] or ""
    count = len(match[0]) - len(after)
    if count > 1 and not after:
        return match[0]
    if match.string[match.end() - 1 :].upper().startswith("(DOLLAR)") and count % 2:
        raise UsageError(
            f"{match.string[:60]!r} cannot stand in a submit file: HTCondor makes "
            "$ of every $(DOLLAR) and has no way to say it; use a file instead"
        )
    return _TWO_DOLLARS * (count // 2) + "$(DOLLAR)" * (count % 2) + after


def split_arguments(text: str) -> list[str]:
    """The words of an expanded ``arguments`` value, old syntax or new.

    Raises UsageError where quotes do not match.
    """
    text = text.strip()
    if not text.startswith('"'):
        return [word.replace('\\"', '"') for word in text.split()]
    return [_unescape_dollars(word) for word in split_words(_strip_double_quotes(text))]


def split_environment(text: str) -> dict[str, str]:
    """The variables of an expanded ``environment`` value, old syntax or new."""
    text = text.strip()
    new = text.startswith('"')
    words = split_words(_strip_double_quotes(text)) if new else text.split(";")
    return environment_of([word for word in words if word.strip()])


def environment_of(words: Sequence[str]) -> dict[str, str]:
    environment = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"environment: {word!r} is not NAME=value")
        environment[name.strip()] = _unescape_dollars(value)
    return environment


def split_words(text: str) -> list[str]:
    """Split at blanks outside single quotes; two single quotes are one character."""
    words: list[str] = []
    word: list[str] | None = None
    quoted = False
    position = 0
    end = len(text)
    while position < end:
        character = text[position]
        if character == "'" and quoted and text[position + 1 : position + 2] == "'":
            word = [*(word or []), "'"]
            position += 1
        elif character == "'":
            quoted = not quoted
            word = word or []
        elif character in " \t\n\r\v\f" and not quoted:
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word if word is not None else []
            word.append(character)
        position += 1
    if quoted:
        raise UsageError(f"a single quote is not closed in {text!r}")
    return words if word is None else [*words, "".join(word)]


def _strip_double_quotes(text: str) -> str:
    body = text[1:-1]
    if len(text) < 2 or text[-1] != '"' or '"' in body.replace('""', ""):
        raise UsageError(f"double quotes do not match in {text!r}")
    return body.replace('""', '"')


def _unescape_dollars(word: str) -> str:
    return word.replace(_TWO_DOLLARS, "$$") if _TWO_DOLLARS in word else word
