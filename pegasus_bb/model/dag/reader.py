"""Reads a DAGMan file the way DAGMan's own parser (dag_parser.cpp) does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.nodes import KINDS, Dag, Node, Script

_TOKEN = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']+""")
_PAIR = re.compile(
    r"""\s*([^\s="']+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']+))"""
)
_ESCAPE = re.compile(r"\\(.)")
_RESERVED = {"PARENT", "CHILD", "ALL_NODES"}
# An inline description goes on over several lines.
_INLINE = "write the submit description to a file of its own and name that file"


class _LineError(Exception):
    """A line that cannot be parsed: what is wrong, what it says, what would do."""

    def __init__(self, what: str, found: str = "", would_do: str = "") -> None:
        super().__init__(what)
        self.found = found
        self.would_do = would_do


class _UndefinedNodeError(Exception):
    """A line names ALL_NODES, or a node that is not defined yet."""


def read_dag(path: Path) -> Dag:
    """Parse the DAG file ``path``. Raises CatalogError with file and line."""
    reader = _Reader()
    try:
        with path.open(
            encoding="utf-8", errors="surrogateescape", newline="\n"
        ) as source:
            reader.read(source, str(path))
    except OSError as error:
        raise CatalogError(f"cannot be read: {error.strerror}", str(path)) from error
    reader.dag.file = str(path)
    return reader.dag


class _Reader:
    def __init__(self) -> None:
        self.dag = Dag()
        self._complete = False
        self._handlers: dict[str, Callable[[str], None]] = {
            "PARENT": self._parent,
            "SCRIPT": self._script,
            "RETRY": self._retry,
            "PRIORITY": self._priority,
            "CATEGORY": self._category,
            "VARS": self._vars,
            "PRE_SKIP": self._pre_skip,
            "PRE-SKIP": self._pre_skip,
            "ABORT-DAG-ON": self._abort,
            "ABORT_DAG_ON": self._abort,
            "DONE": self._done,
            "MAXJOBS": self._max_jobs,
        }

    def read(self, source: Iterator[str], file: str) -> None:
        """Lines may come in any order: one before its JOB line is applied last."""
        waiting: list[tuple[int, Callable[[str], None], str]] = []
        number = 0
        handlers = self._handlers
        try:
            for number, line in enumerate(source, 1):
                words = line.split(None, 1)
                if not words or words[0][0] == "#" or words[0][:2] == "//":
                    continue
                keyword = words[0]
                handler = handlers.get(keyword) or handlers.get(keyword.upper())
                if handler is None:
                    self._node_or_other(keyword.upper(), line.strip(" \t\r\n"))
                    continue
                rest = words[1] if len(words) > 1 else ""
                if waiting:  # keep the order: a later line wins over an earlier one
                    waiting.append((number, handler, rest))
                    continue
                try:
                    handler(rest)
                except _UndefinedNodeError:
                    waiting.append((number, handler, rest))
            self._complete = True
            for number, handler, rest in waiting:  # noqa: B007 - named in the error
                handler(rest)
        except _LineError as error:
            raise CatalogError(
                str(error), file, number, found=error.found, would_do=error.would_do
            ) from None

    def _node_or_other(self, keyword: str, line: str) -> None:
        if keyword == "SUBMIT-DESCRIPTION" or keyword == "SUBMIT_DESCRIPTION":
            raise _LineError("an inline submit description", line, _INLINE)
        if keyword not in KINDS:
            self.dag.other.append(line)
            return
        words = _words(line)[1:]
        if keyword == "SUBDAG" and (words or [""]).pop(0).upper() != "EXTERNAL":
            raise _LineError("SUBDAG without EXTERNAL", line)
        if len(words) < 2 or not words[0] or not words[1]:
            raise _LineError(
                f"{keyword} needs a name and a file", line, "JOB name file.sub"
            )
        self._add(Node(words[0], words[1], keyword), words[2:])

    def _add(self, node: Node, options: list[str]) -> None:
        if node.submit_file[0] == "{" or node.submit_file.startswith("@="):
            raise _LineError("an inline submit description", node.name, _INLINE)
        if node.name in self.dag.nodes or node.name.upper() in _RESERVED:
            why = "there twice" if node.name in self.dag.nodes else "a reserved word"
            raise _LineError(f"node name is {why}", node.name, "another name")
        _node_options(node, options)
        self.dag.nodes[node.name] = node

    def _nodes(self, name: str) -> Iterable[Node]:
        node = self.dag.nodes.get(name)
        if node is not None:
            return (node,)
        if self._complete and name.upper() == "ALL_NODES":
            return [node for node in self.dag.nodes.values() if node.kind == "JOB"]
        return (self._node(name),)

    def _node(self, name: str) -> Node:
        node = self.dag.nodes.get(name)
        if node is not None:
            return node
        if not self._complete:
            raise _UndefinedNodeError(name)
        raise _LineError(
            "a node that the file does not define", name, f"a line JOB {name} <file>"
        )

    def _parent(self, rest: str) -> None:
        words = rest.split()
        nodes = self.dag.nodes
        if len(words) == 3 and words[1] == "CHILD":  # the usual edge of a planner
            parent, _, child = words
            if parent in nodes and child in nodes:
                self.dag.children.setdefault(parent, []).append(child)
                return
        at = next((i for i, word in enumerate(words) if word.upper() == "CHILD"), 0)
        parents = words[:at]
        children = words[at + 1 :]
        if not parents or not children:
            raise _LineError(
                "PARENT without parents or children",
                rest.strip(),
                "PARENT a b CHILD c d",
            )
        for name in (*parents, *children):
            if name not in nodes:
                self._node(name)
        for parent in parents:
            self.dag.children.setdefault(parent, []).extend(children)

    def _script(self, rest: str) -> None:
        words = rest.split(None, 3)
        defer: tuple[int | None, int | None] = (None, None)
        if words and words[0].upper() == "DEFER":
            if len(words) < 4:
                raise _LineError("DEFER needs a status and a time", rest.strip())
            defer = (_int(words[1]), _int(words[2], least=0))
            words = words[3].split(None, 2)
            words[2:] = words[2].split(None, 1) if len(words) > 2 else []
        if words and words[0].upper() == "HOLD":
            self.dag.other.append("SCRIPT " + rest.strip(" \t\r\n"))
            return
        if len(words) < 3 or words[0].upper() not in ("PRE", "POST"):
            raise _LineError(
                "not a script line that is known here",
                rest.strip(),
                "SCRIPT [DEFER status time] PRE|POST node executable arguments",
            )
        arguments = words[3].strip(" \t\r\n") if len(words) > 3 else ""
        for node in self._nodes(words[1]):
            script = Script(words[2], arguments, *defer)
            setattr(node, words[0].lower(), script)

    def _retry(self, rest: str) -> None:
        words = _arguments(rest, "RETRY node times [UNLESS-EXIT status]", 2, 4)
        unless = _int(words[3]) if len(words) > 2 else None
        if len(words) > 2 and words[2].upper() != "UNLESS-EXIT":
            raise _LineError("unexpected word", words[2], "UNLESS-EXIT status")
        for node in self._nodes(words[0]):
            node.retry = _int(words[1], least=0)
            node.unless_exit = unless

    def _priority(self, rest: str) -> None:
        name, value = _arguments(rest, "PRIORITY node number", 2)
        for node in self._nodes(name):
            node.priority = _int(value)

    def _category(self, rest: str) -> None:
        name, category = _arguments(rest, "CATEGORY node category", 2)
        for node in self._nodes(name):
            node.category = category

    def _vars(self, rest: str) -> None:
        name, _, text = rest.strip(" \t\r\n").partition(" ")
        pairs = _macros(text)
        for node in self._nodes(name):
            node.vars.update(pairs)

    def _pre_skip(self, rest: str) -> None:
        name, status = _arguments(rest, "PRE_SKIP node status", 2)
        for node in self._nodes(name):
            node.pre_skip = _int(status)

    def _abort(self, rest: str) -> None:
        words = _arguments(rest, "ABORT-DAG-ON node status [RETURN status]", 2, 4)
        if len(words) > 2 and words[2].upper() != "RETURN":
            raise _LineError("unexpected word", words[2], "RETURN status")
        answer = _int(words[3], least=0) if len(words) > 2 else None
        for node in self._nodes(words[0]):
            node.abort_on = (_int(words[1]), answer)

    def _done(self, rest: str) -> None:
        (name,) = _arguments(rest, "DONE node", 1)
        for node in self._nodes(name):
            node.done = True

    def _max_jobs(self, rest: str) -> None:
        category, limit = _arguments(rest, "MAXJOBS category number", 2)
        self.dag.max_jobs[category] = _int(limit, least=0)


@lru_cache(100)  # planners write the same VARS for every node
def _macros(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    end = 0
    while match := _PAIR.match(text, end):
        pairs[match[1]] = _ESCAPE.sub(r"\1", match[2] or match[3] or match[4] or "")
        end = match.end()
    if text[end:].strip() or not pairs:
        raise _LineError(
            "not a list of macros", text[end:].strip(), 'VARS node name="value" ...'
        )
    return pairs


def _node_options(node: Node, options: list[str]) -> None:
    words = iter(options)
    for word in words:
        keyword = word.upper()
        if keyword == "NOOP":
            node.noop = True
        elif keyword == "DONE":
            node.done = True
        elif keyword == "DIR":
            node.directory = next(words, "")
        if keyword not in ("NOOP", "DONE", "DIR") or (
            keyword == "DIR" and not node.directory
        ):
            raise _LineError("unexpected word", word, "DIR folder, NOOP or DONE")


def _words(line: str) -> list[str]:
    """Split at blanks and remove quotes as DAGMan does."""
    if '"' not in line and "'" not in line:
        return line.split()
    return [
        _ESCAPE.sub(r"\1", word[1:-1]) if word[0] in "\"'" else word
        for word in _TOKEN.findall(line)
    ]


def _arguments(rest: str, form: str, *counts: int) -> list[str]:
    words = rest.split()
    if len(words) not in counts:
        raise _LineError("too few or too many words", rest.strip(), form)
    return words


def _int(text: str, least: int | None = None) -> int:
    try:
        value = int(text)
    except ValueError:
        raise _LineError("not a whole number", text) from None
    if least is not None and value < least:
        raise _LineError(f"less than {least}", text)
    return value
