"""The protocol between a client and the service: JSON lines on a Unix socket.

A request is ``{"v": 1, "id": 7, "do": "submit", ...}``. Its answer has the same id and
either ``ok`` or ``error`` (``code`` and ``message``). docs/stager.md lists all of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator

from pegasus_bb.core.errors import USAGE, PegasusBBError, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

VERSION = 1
LONGEST = 8 << 20  # bytes of a line: some 50,000 tasks
LONGEST_ANSWER = 1 << 30  # of a line that a client takes
USER_SOCKET = "user"
CONTROL_SOCKET = "control"
LARGEST = 1 << 62  # bytes, bytes per second, or seconds
_LONGEST_PATH = 107  # bytes of a socket's (unix(7))


class Refused(PegasusBBError):
    """The service refuses a request. ``code`` is for programs."""

    exit_code = USAGE

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def encode(message: dict[str, Any]) -> bytes:
    """Return ``message`` as one line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def in_requests(tasks: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield ``tasks`` in as few lists as fit into a line each."""
    request: list[dict[str, Any]] = []
    size = 0
    for task in tasks:
        more = len(encode(task))
        if request and size + more > LONGEST // 2:
            yield request
            request = []
            size = 0
        request.append(task)
        size += more
    if request:
        yield request


def decode(line: bytes) -> dict[str, Any]:
    """The message of one line. Raises Refused where it is none of ours."""
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused("bad-request", f"the line is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise Refused("bad-request", "a request is a JSON object")
    return message


def check_version(message: dict[str, Any]) -> None:
    """Raises Refused where the client speaks another version."""
    version = message.get("v")
    if type(version) is not int or version != VERSION:
        raise Refused(
            "version",
            f"the client speaks version {version!r} and the service {VERSION}: "
            "install the same pegasus_bb on both sides",
        )


def check_socket(path: str) -> None:
    """Raises UsageError where no socket can have that path."""
    size = len(os.fsencode(path))
    if size > _LONGEST_PATH:
        raise UsageError(
            f"{path}: a socket's path has at most {_LONGEST_PATH} bytes, this one has "
            f"{size}; name a shorter folder: `sockets` of a site's configuration, "
            "--sockets or PEGASUS_BB_STAGER"
        )


def is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < LARGEST  # neither NaN nor inf


def is_rate(value: Any) -> bool:
    """Bytes per second; 0: no limit. Below 1 the end of a task would be no number."""
    return is_amount(value) and not 0 < value < 1


class Field(NamedTuple):
    """What may stand under a key of a request; an absent key is as null."""

    is_good: Callable[[Any], bool]
    wanted: str


def _are_numbers(value: Any) -> bool:
    are_whole = isinstance(value, list) and all(type(each) is int for each in value)
    return are_whole and len(set(value)) == len(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


_NUMBERS = Field(_are_numbers, "a list of numbers of tasks, each of them once")
_SOME = Field(lambda v: v is None or _are_numbers(v), f"{_NUMBERS.wanted}, or null")
_LIST = Field(lambda v: isinstance(v, list), "a list of tasks")
_NAME = Field(_is_text, "the name of a dataspace")
_SHARES = Field(_is_text, "how the shares of tasks begin")
_RATE = Field(is_rate, "1 or more bytes per second, or 0: no limit")
_FLAG = Field(lambda v: v is None or type(v) is bool, "true or false")

_ALWAYS = frozenset(("v", "id", "do"))
FIELDS: dict[str, dict[str, Field]] = {  # by ``do``
    "ping": {},
    "submit": {"tasks": _LIST},
    "status": {"tasks": _SOME, "eta": _FLAG, "everyone": _FLAG},
    "wait": {"tasks": _NUMBERS, "everyone": _FLAG},
    "cancel": {"tasks": _SOME, "all": _FLAG, "everyone": _FLAG},
    "rate": {"shares": _SHARES, "rate": _RATE},
    "discard": {"space": _NAME},
    **{do: {} for do in ("pause", "resume", "drain", "shutdown", "users")},
}


def check_fields(message: dict[str, Any]) -> None:
    """Raises Refused for a key that its ``do`` does not have, and a wrong value."""
    do = message["do"]
    unknown = sorted(message.keys() - _ALWAYS - FIELDS[do].keys())
    if unknown:
        can = ", ".join(FIELDS[do]) or "nothing more"
        raise Refused("bad-request", f"{do} takes no {unknown[0]!r}; it takes {can}")
    for key, field in FIELDS[do].items():
        if not field.is_good(message.get(key)):
            found = repr(message.get(key))[:60]
            why = f"{do}: {key} is {field.wanted}; found {found}"
            raise Refused("bad-request", why)
