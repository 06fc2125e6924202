"""A Kickstart record of the usual layout -> those of its fields that a Task is made of.

Kickstart and our recorder print the same lines in the same order, and a reader of all
of YAML takes ten times as long for them. What is not laid out so, or has a value that
YAML might take for something else, is left to such a reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

# What a record lists beside the workflow's files: its own streams and itself.
OWN_FILES = ("stdin", "stdout", "stderr", "metadata", "kickstart", "logfile")
LIMIT = 1 << 20  # bytes; the matcher remembers a little of every line

_QUOTED = rb'"[^"\\\x00-\x1f\x7f]*"'
_ODD = rb"\x00-\x1f\x7f\"#:\\"  # what is not in a word without quotes
_WORD = (
    rb"(?:" + _QUOTED + rb"|[^\s'\[\]{}&*!|>%@`,?" + _ODD + rb"-]"
    rb"[^" + _ODD + rb"]*(?::[^\s" + _ODD + rb"]+)*)"
)
_PAIR = rb"[\w-]+: " + _WORD + rb"\n"
_LAYOUT = re.compile(
    rb"- invocation: True\n((?:  " + _PAIR + rb")+)"
    rb"  mainjob:\n((?:    " + _PAIR + rb")+)"
    rb"    usage:\n((?:      " + _PAIR + rb")+)"
    rb"    status:\n((?:      " + _PAIR + rb")+)"
    rb"(?:    executable:\n((?:      " + _PAIR + rb")+))?"
    rb"(?:    argument_vector:\n((?:      - " + _QUOTED + rb"\n)*))?"
    rb"(?:    procs:\n((?:      \d+:\n(?:        " + _PAIR + rb")+)*))?"
    rb"(?:  jobids:\n(?:    " + _PAIR + rb")*)?"
    rb"(?:  cwd: (" + _WORD + rb")\n)?"
    rb"((?:  (?:usage|machine|limits):\n(?:    " + _PAIR + rb")*"
    rb"|  environment:\n(?:    " + _QUOTED + rb": " + _WORD + rb"\n)*)*)"
    rb"(?:  files:\n((?:    " + _WORD + rb":\n(?:      " + _PAIR + rb")+)*))?"
    rb"\s*"
)
_PAIRS = re.compile(rb"([\w-]+): (.*)\n")
_ITEMS = re.compile(rb'- "(.*)"\n')
_FILES = re.compile(rb"    (\S.*):\n((?:      .*\n)+)")
_ROW = re.compile(rb"^ {6}\d", re.MULTILINE)
_NODE = re.compile(rb"    uname_nodename: (.*)\n")
_INTEGER = re.compile(rb"0|[1-9][0-9]{0,17}")
_FLOAT = re.compile(rb"(?:0|[1-9][0-9]*)\.[0-9]+")
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)")
_PLAIN = re.compile(rb"[A-Za-z_/][\w/.+-]*|\d+\.\d+\.\d+\.\d+")
_TRUTH = {b"True": True, b"true": True, b"False": False, b"false": False}
# Words that one reader or another takes for something else.
_MORE = frozenset(b"true false yes no on off y n null".split())


class _Unusual(Exception):
    """Something that is left to a reader of all of YAML."""


def read_layout(record: bytes) -> dict[str, Any] | None:
    """The fields of ``record``, as YAML has them; None where it is not so laid out."""
    found = _LAYOUT.fullmatch(record) if len(record) <= LIMIT else None
    if found is None:
        return None
    try:
        return _record(*found.groups())
    except _Unusual:
        return None


def _record(
    head: bytes,
    main: bytes,
    usage: bytes,
    status: bytes,
    program: bytes | None,
    arguments: bytes | None,
    procs: bytes | None,
    cwd: bytes | None,
    rest: bytes,
    files: bytes | None,
) -> dict[str, Any]:
    fields = _fields(head)
    job = _fields(main)
    record: dict[str, Any] = _taken(fields, _HEAD)
    pid = _taken(job, {b"pid": _number}).get("pid")
    node = _NODE.search(rest)
    record["mainjob"] = {
        **_taken(job, _MAIN),
        "usage": _taken(_fields(usage), _USAGE),
        "status": {k.decode(): _number(v) for k, v in _fields(status).items()},
        "executable": _taken(_fields(program or b""), {b"file_name": _text}),
        "argument_vector": [_shown(word) for word in _ITEMS.findall(arguments or b"")],
        "procs": {pid: _row(procs or b"", pid)},
    }
    record["machine"] = {"uname_nodename": _text(node.group(1)) if node else None}
    record["cwd"] = _text(cwd) if cwd else None
    record["files"] = _files(files or b"")
    return record


def _fields(lines: bytes) -> dict[bytes, bytes]:
    """Of a name that is there twice the last, as YAML's reader has it."""
    return dict(_PAIRS.findall(lines))


def _taken(
    fields: Mapping[bytes, bytes], kinds: Mapping[bytes, Callable[[bytes], Any]]
) -> dict[str, Any]:
    return {
        name.decode(): kind(fields[name])
        for name, kind in kinds.items()
        if name in fields
    }


def _row(procs: bytes, pid: object) -> dict[str, Any] | None:
    """The row of the task's own process: it has its children's bytes as well."""
    begin = procs.find(b"      %d:\n" % pid) if isinstance(pid, int) else -1
    if begin < 0:
        return None
    begin = procs.index(b"\n", begin) + 1
    end = _ROW.search(procs, begin)
    return _taken(_fields(procs[begin : end.start() if end else None]), _COUNTERS)


def _files(lines: bytes) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for raw, body in _FILES.findall(lines):
        name = _text(raw)
        if name is None or name in files:
            raise _Unusual
        own = name in OWN_FILES and b" lfn: " not in body
        files[name] = {} if own else _taken(_fields(body), _FILE)
    return files


def _shown(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")


def _number(raw: bytes) -> int | float | None:
    if _INTEGER.fullmatch(raw):
        return int(raw)
    if _FLOAT.fullmatch(raw):
        return float(raw)
    if raw == b"null":
        return None
    raise _Unusual


def _text(raw: bytes) -> str | None:
    if raw.startswith(b'"'):
        return _shown(raw[1:-1])
    if raw == b"null":
        return None
    if _PLAIN.fullmatch(raw) and raw.lower() not in _MORE:
        return raw.decode()
    raise _Unusual


def _time(raw: bytes) -> str | None:
    return raw.decode() if _TIME.fullmatch(raw) else _text(raw)


def _truth(raw: bytes) -> bool:
    if raw not in _TRUTH:
        raise _Unusual
    return _TRUTH[raw]


_HEAD = {
    **{b"start": _time, b"duration": _number},
    **dict.fromkeys((b"transformation", b"derivation", b"resource"), _text),
    **dict.fromkeys((b"recorder", b"hostname", b"hostaddr"), _text),
}
_MAIN = {b"start": _time, b"duration": _number, b"pid": _number}
_USAGE = dict.fromkeys(b"utime stime maxrss inblock outblock".split(), _number)
_COUNTERS = dict.fromkeys(b"rchar wchar rbytes wbytes iowait".split(), _number)
_FILE = {b"lfn": _text, b"file_name": _text, b"size": _number, b"output": _truth}
