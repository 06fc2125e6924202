"""Writes a DAG file.

The DAG writer of htcondor2 is not used: it writes ``CATEGORY`` for a throttle where
DAGMan reads ``MAXJOBS``, makes submit files absolute, and has no VARS of a SUBDAG.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pegasus_bb.core.errors import UnplacedError
from pegasus_bb.core.files import sync_directory
from pegasus_bb.model.dag.nodes import KINDS, Dag, Node, Script

_NAME = re.compile(r"""[^\s"'=+\\#\x00-\x1f\x7f][^\s"'=+\\\x00-\x1f\x7f]*""")
_WORD = re.compile(r"""[^\s"'\x00-\x1f\x7f]+""")
_MACRO = re.compile(r"(?!queue)[+A-Za-z_][A-Za-z0-9_.]*", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def write_dag(dag: Dag, path: Path) -> None:
    """Write ``dag`` to ``path``, whole or not at all, with its nodes in their order.

    Raises UnplacedError if a value cannot stand in a DAG file, such as one with a
    newline, which would start a line of its own.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="surrogateescape") as out:
            out.writelines(f"{line}\n" for line in _lines(dag))
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_directory(str(path.parent))


def _lines(dag: Dag) -> Iterator[str]:
    for line in dag.other:
        yield _single_line(line, "line")
    for category, limit in dag.max_jobs.items():
        yield f"MAXJOBS {_word(category, 'category')} {limit}"
    for node in dag.nodes.values():
        check_node(node)
        yield from _node_lines(node)
    for parent, children in dag.children.items():
        for name in (parent, *children):
            if name not in dag.nodes:
                what = "an edge of the DAG leads to a node that it does not have"
                raise UnplacedError(f"{what}: {name}")
        if children:
            yield f"PARENT {parent} CHILD {' '.join(children)}"


def _node_lines(node: Node) -> Iterator[str]:
    yield _first_line(node)
    if node.vars:
        pairs = (f'{key}="{_quoted(text)}"' for key, text in node.vars.items())
        yield f"VARS {node.name} {' '.join(pairs)}"
    if node.retry or node.unless_exit is not None:
        unless = "" if node.unless_exit is None else f" UNLESS-EXIT {node.unless_exit}"
        yield f"RETRY {node.name} {node.retry}{unless}"
    if node.pre is not None:
        yield script_line("PRE", node.name, node.pre)
    if node.post is not None:
        yield script_line("POST", node.name, node.post)
    if node.pre_skip is not None:
        yield f"PRE_SKIP {node.name} {node.pre_skip}"
    if node.priority:
        yield f"PRIORITY {node.name} {node.priority}"
    if node.category:
        yield f"CATEGORY {node.name} {node.category}"
    if node.abort_on is not None:
        status, answer = node.abort_on
        returns = "" if answer is None else f" RETURN {answer}"
        yield f"ABORT-DAG-ON {node.name} {status}{returns}"


def _first_line(node: Node) -> str:
    keyword = "SUBDAG EXTERNAL" if node.kind == "SUBDAG" else node.kind
    folder = f" DIR {node.directory}" if node.directory else ""
    flags = " NOOP" * node.noop + " DONE" * node.done
    return f"{keyword} {node.name} {node.submit_file}{folder}{flags}"


def script_line(when: str, node: str, script: Script) -> str:
    """The line that makes ``script`` the PRE or POST script of ``node``."""
    deferred = script.defer_status is not None
    defer = f" DEFER {script.defer_status} {script.defer_time}" if deferred else ""
    arguments = script.arguments.strip(" \t")
    words = f"SCRIPT{defer} {when} {node} {script.executable}"
    return f"{words} {arguments}" if arguments else words


def check_node(node: Node, at: Sequence[str] = ()) -> None:
    """Refuse values that DAGMan would misread. Raises UnplacedError at ``at``."""
    reserved = node.name.upper() in ("PARENT", "CHILD", "ALL_NODES")
    if reserved or _NAME.fullmatch(node.name) is None:
        raise _invalid("name of a node", node.name, "letters, digits, _ and -")
    if node.kind not in KINDS:
        raise _invalid("kind of a node", node.kind, ", ".join(KINDS))
    _word(node.submit_file, f"submit file of {node.name}")
    if node.directory:
        _word(node.directory, f"directory of {node.name}")
    if node.category:
        _word(node.category, f"category of {node.name}", at and (*at, "CATEGORY"))
    for script, key in ((node.pre, "PRE"), (node.post, "POST")):
        if script is not None:
            _word(script.executable, f"script of {node.name}", at and (*at, key))
            there = at and (*at, f"{key}.ARGUMENTS")
            _single_line(script.arguments, f"script arguments of {node.name}", there)
    for key, text in node.vars.items():
        if _MACRO.fullmatch(key) is None:
            raise _invalid(f"macro of {node.name}", key, "letters, digits and _")
        _single_line(text, f"macro {key} of {node.name}")


def _word(text: str, what: str, at: Sequence[str] = ()) -> str:
    if _WORD.fullmatch(text) is None or text[0] in "{@" or text[-1] == "\\":
        raise _invalid(what, text, "a path or name without blanks and quotes", at)
    return text


def _single_line(text: str, what: str, at: Sequence[str] = ()) -> str:
    # An older DAGMan joins a line that ends in a backslash with the next one.
    if _CONTROL.search(text) or text.endswith("\\"):
        raise _invalid(what, text, "text on one line, with no backslash at its end", at)
    return text


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _invalid(
    what: str, found: str, would_do: str, at: Sequence[str] = ()
) -> UnplacedError:
    return UnplacedError(
        f"{what} cannot stand in a DAG file", at, repr(found), would_do
    )
