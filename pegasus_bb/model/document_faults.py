"""What makes an error in a document easy to mend: the line, and the way from Pegasus 4.

Errors alone need it: the lines come from a second, slower parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

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
        "pegasus-sc-converter -i {file} -o sites.yml -O YAML",
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


def line_of(text: str, keys: Iterable[object]) -> int:
    """The line (from 1) of the value under ``keys``, or of its nearest parent."""
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        return 0
    for key in keys:
        below = _child(node, key)
        if below is None:
            break
        node = below
    return 0 if node is None else int(node.start_mark.line) + 1


def fault_line(text: str) -> int:
    """The line of a fault that the fast parser reported without one; 0 if unknown."""
    try:
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        return error.problem_mark.line + 1 if error.problem_mark else 0
    except (yaml.YAMLError, ValueError, RecursionError):
        return 0
    return next(_repeated(root), 0) if root else 0


def _child(node: yaml.Node | None, key: object) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for name, below in node.value:
            if name.value == str(key):
                return _at(name, below)
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
        return node.value[key] if key < len(node.value) else None
    return None


def _at(name: yaml.Node, below: yaml.Node) -> yaml.Node:
    """The value, with the line of its key, where a person looks."""
    below.start_mark = name.start_mark
    return below


def _repeated(root: yaml.Node) -> Iterator[int]:
    """The lines of repeated keys."""
    waiting = [root]
    met = set()
    while waiting:
        node = waiting.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        if isinstance(node, yaml.MappingNode):
            names: set[Any] = set()
            for name, below in node.value:
                waiting.append(below)
                if isinstance(name.value, str) and name.value in names:
                    yield int(name.start_mark.line) + 1
                names.add(name.value if isinstance(name.value, str) else id(name))
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)


def old_form(text: str, file: str) -> tuple[str, str] | None:
    """What ``text`` is, and the fix, if it is a file of Pegasus 4."""
    for kind, (name, begins, _) in _FORMS.items():
        if re.match(begins, text[:_BEGINNING], re.DOTALL):
            return f"is {name} of Pegasus 4", conversion(kind, file)
    return None


def conversion(kind: str, file: str) -> str:
    """The command that makes a ``kind`` catalog of Pegasus 5 of ``file``."""
    return _FORMS[kind][2].format(file=file)
