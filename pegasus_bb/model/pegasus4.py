"""How files of Pegasus 4 begin, and what makes files of Pegasus 5 of them."""

from __future__ import annotations

import re

_XML = r"(<\?[^>]*>|<!--((?!-->).)*-->|\s)*"
_TEXT = r"(\s|#[^\n]*\n)*"
_GENERATE = (
    "write it with Pegasus.api of Pegasus 5; a plain pegasus-plan still takes it, but "
    "without a burst buffer"
)
_BEGINNING = 10_000  # characters
# Kind of file -> its name, how it begins, what converts it.
_FORMS = {
    "workflow": ("a DAX", _XML + r"<(\w+:)?adag\b", _GENERATE),
    "site": (
        "a site catalog",
        _XML + r"<(\w+:)?sitecatalog\b",
        "pegasus-sc-converter -I XML -i {file} -O YAML -o sites.yml",
    ),
    "transformation": (
        "a transformation catalog",
        _TEXT + r"(tr|cont)\s+\S+\s*\{",
        "pegasus-tc-converter -I Text -i {file} -O YAML -o transformations.yml",
    ),
    "replica": (
        "a replica catalog",
        _TEXT + r"\S+[ \t]+\S+[ \t]+(\w+=\"[^\"]*\"[ \t]*)+(\n|$)",
        "pegasus-rc-converter -I File -i {file} -O YAML -o replicas.yml",
    ),
}


def old_form(text: str, file: str) -> tuple[str, str] | None:
    """What ``text`` is, and the fix, if it is a file of Pegasus 4."""
    for kind, (name, begins, _) in _FORMS.items():
        if re.match(begins, text[:_BEGINNING], re.DOTALL):
            return f"is {name} of Pegasus 4", conversion(kind, file)
    return None


def conversion(kind: str, file: str) -> str:
    """The command that makes a ``kind`` catalog of Pegasus 5 of ``file``."""
    return _FORMS[kind][2].format(file=file)
