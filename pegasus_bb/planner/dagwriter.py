"""Writes a DAG through htcondor2.dags, and right where the library is not.

The library finds the children of a node by looking through all edges, writes
``CATEGORY category n`` for a throttle where DAGMan reads ``MAXJOBS category n``,
names a FINAL node's file itself and makes submit files absolute, which would tie a
submit directory to its place. Those lines are ours; the rest is the library's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegasus_bb.errors import CatalogError
from pegasus_bb.files import sync_directory
from pegasus_bb.planner.dag import KINDS, Dag, Node, Script
from pegasus_bb.planner.htcondor import dags

_NAME = re.compile(r"""[^\s"'=+\\#\x00-\x1f\x7f][^\s"'=+\\\x00-\x1f\x7f]*""")
_WORD = re.compile(r"""[^\s"'\x00-\x1f\x7f]+""")
_MACRO = re.compile(r"(?!queue)[+A-Za-z_][A-Za-z0-9_.]*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def write_dag(dag: Dag, path: Path) -> None:
    """Put ``dag`` under ``path`` whole or not at all, nodes in their order.

    Raises CatalogError where a value cannot stand in a DAG file, such as one with a
    newline in it: nothing foreign becomes a line of its own.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(f"{line}\n" for line in _Writer(dag).yield_dag_file_lines())
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_directory(str(path.parent))


class _Layer:
    """What the library's formatter looks at, without its graph around it."""

    __slots__ = (
        "abort",
        "category",
        "dir",
        "done",
        "name",
        "noop",
        "post",
        "pre",
        "pre_skip_exit_code",
        "priority",
        "retries",
        "retry_unless_exit",
    )

    def __init__(self, node: Node) -> None:
        self.name = node.name
        self.dir = node.directory or None
        self.noop = {0: node.noop}
        self.done = {0: node.done}
        self.pre = _script(node.pre)
        self.post = _script(node.post)
        self.pre_skip_exit_code = node.pre_skip
        retried = node.retry or node.unless_exit is not None
        self.retries = node.retry if retried else None
        self.retry_unless_exit = node.unless_exit
        self.priority = node.priority
        self.category = node.category or None
        self.abort = dags.DAGAbortCondition(*node.abort_on) if node.abort_on else None


def _script(script: Script | None) -> Any:
    if script is None:
        return None
    text = script.arguments.strip(" \t")
    return dags.Script(
        script.executable,
        [text] if text else [],
        retry=script.defer_status is not None,
        retry_status=script.defer_status,
        retry_delay=script.defer_time,
    )


class _Writer(dags.writer.DAGWriter):  # type: ignore[misc, name-defined]
    def __init__(self, dag: Dag) -> None:
        super().__init__(dag)
        self._ours = dag

    def yield_dag_file_lines(self) -> Iterator[str]:
        for line in self._ours.other:
            yield _checked(line, "line")
        for category, limit in self._ours.max_jobs.items():
            yield f"MAXJOBS {_word(category, 'category')} {limit}"
        for node in self._ours.nodes.values():
            yield from self._node_lines(node)
        for parent, children in self._ours.children.items():
            yield from self._edge_lines(parent, children)

    def _node_lines(self, node: Node) -> Iterator[str]:
        _check(node)
        layer = _Layer(node)
        keyword = "SUBDAG EXTERNAL" if node.kind == "SUBDAG" else node.kind
        parts = [keyword, node.name, node.submit_file]
        yield " ".join(parts + self.get_node_meta_parts(layer, 0))
        if node.vars:
            pairs = (f'{key}="{_quoted(text)}"' for key, text in node.vars.items())
            yield f"VARS {node.name} {' '.join(pairs)}"
        yield from self.yield_node_meta_lines(layer, node.name)

    def _edge_lines(self, parent: str, children: list[str]) -> Iterator[str]:
        for name in (parent, *children):
            if name not in self._ours.nodes:
                raise CatalogError(
                    "an edge of the DAG leads to a node that it does not have",
                    found=name,
                )
        if children:
            yield f"PARENT {parent} CHILD {' '.join(children)}"


def _check(node: Node) -> None:
    """Refuse whatever DAGMan would read as something else than it is."""
    reserved = node.name.upper() in ("PARENT", "CHILD", "ALL_NODES")
    if reserved or _NAME.fullmatch(node.name) is None:
        raise _refused("name of a node", node.name, "letters, digits, _ and -")
    if node.kind not in KINDS:
        raise _refused("kind of a node", node.kind, ", ".join(KINDS))
    _word(node.submit_file, f"submit file of {node.name}")
    if node.directory:
        _word(node.directory, f"directory of {node.name}")
    if node.category:
        _word(node.category, f"category of {node.name}")
    for script in (node.pre, node.post):
        if script is not None:
            _word(script.executable, f"script of {node.name}")
            _checked(script.arguments, f"script arguments of {node.name}")
    for key, text in node.vars.items():
        if _MACRO.fullmatch(key) is None:
            raise _refused(f"macro of {node.name}", key, "letters, digits and _")
        _checked(text, f"macro {key} of {node.name}")


def _word(text: str, what: str) -> str:
    if _WORD.fullmatch(text) is None or text[0] in "{@" or text[-1] == "\\":
        raise _refused(what, text, "a path or name without blanks and quotes")
    return text


def _checked(text: str, what: str) -> str:
    # An older DAGMan takes a backslash at the end for "goes on in the next line".
    if _CONTROL.search(text) or text.endswith("\\"):
        raise _refused(what, text, "text on one line, with no backslash at its end")
    return text


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _refused(what: str, found: str, would_do: str) -> CatalogError:
    return CatalogError(
        f"{what} cannot stand in a DAG file", found=repr(found), would_do=would_do
    )
