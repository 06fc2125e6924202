"""``${VAR}`` in the text of a catalog, as Pegasus's VariableExpander replaces it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pegasus_bb.errors import CatalogError

_VARIABLE = re.compile(r"(\\?)\$\{([^}]*)\}")
_DEEPEST = 20  # variables inside variables
# No path and no argument is as long. Ten variables that each name the one before ten
# times would fill the memory of any machine.
_LONGEST = 1 << 20  # characters of one value
_LONGEST_TEXT = 1 << 28  # of a file with all its values


class _NotExpanded(Exception):
    """A variable that cannot be replaced: which, why, what would do."""


def expand(text: str, variables: Mapping[str, str], file: str) -> str:
    r"""``${VAR}`` in every line replaced.

    Names are looked up without regard to case; ``\${VAR}`` stays as ``${VAR}``; a
    value may itself hold variables; what follows ``:-`` in a name is left out, but is
    no default. Raises CatalogError for a variable that is not set, or that grows
    beyond all measure.
    """
    if "${" not in text:
        return text
    values = _Values(variables)
    lines = text.split("\n")
    length = 0
    for number, line in enumerate(lines, start=1):
        if "${" not in line:
            continue
        try:
            lines[number - 1] = expanded = values.replaced(line)
            length += len(expanded)
            if length > _LONGEST_TEXT:
                raise _NotExpanded("variables make the file too long", "shorter values")
        except _NotExpanded as error:
            what, would_do = error.args
            raise CatalogError(what, file, number, "", line.strip(), would_do) from None
    return "\n".join(lines)


class _Values:
    """The values of variables, each worked out once."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._raw = {name.lower(): value for name, value in variables.items()}
        self._known: dict[str, str] = {}

    def replaced(self, text: str, depth: int = 0) -> str:
        """``text`` with its variables replaced. Raises _NotExpanded."""

        def value(match: re.Match[str]) -> str:
            if match.group(1):
                return match.group(0)[1:]
            return self._value(match.group(2).partition(":-")[0], depth)

        return _VARIABLE.sub(value, text)

    def _value(self, name: str, depth: int) -> str:
        key = name.lower()
        if key not in self._known:
            would_do = f"export {name}=VALUE before planning, or write the value"
            if key not in self._raw or depth > _DEEPEST:
                why = "never ends" if depth > _DEEPEST else "is not set"
                raise _NotExpanded(f"the variable ${{{name}}} {why}", would_do)
            self._known[key] = self.replaced(self._raw[key], depth + 1)
            if len(self._known[key]) > _LONGEST:
                why = f"has more than {_LONGEST} characters"
                raise _NotExpanded(f"the variable ${{{name}}} {why}", would_do)
        return self._known[key]
