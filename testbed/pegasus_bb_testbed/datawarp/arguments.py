"""The command line of dw_wlm_cli, read as Slurm writes it; anything else is refused.

Users decide what stands in many of these arguments, and the program runs as the
scheduler's user: each is checked here, once, before anything else happens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import parse_size

_TOKEN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_NUMBER = re.compile(r"[0-9]{1,18}")
_CAPACITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}:([0-9]{1,18}[A-Za-z]{0,3})")
_WORD = re.compile(r"[A-Za-z]{1,32}")


@dataclass(frozen=True)
class Call:
    function: str
    values: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return self.values.get(key, "")

    def number(self, key: str) -> int:
        return int(self.values.get(key, "0"))

    def capacity(self) -> tuple[str, int]:
        pool, _, size = self.values["capacity"].partition(":")
        return pool, parse_size(size)


def token(text: str) -> bool:
    """Whether a session may be called so: the name of a buffer or the id of a job."""
    return _TOKEN.fullmatch(text) is not None


def _number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and int(text) < 1 << 32


def _capacity(text: str) -> bool:
    """``wlm_pool:104857600``, or with a unit, as setup has it: ``wlm_pool:100MiB``."""
    match = _CAPACITY.fullmatch(text)
    try:
        return match is not None and parse_size(match.group(1)) < 1 << 63
    except UsageError:
        return False


def _word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None


def _path(text: str) -> bool:
    return text.startswith("/") and "\0" not in text and len(text) < 4096


def _flag(text: str) -> bool:
    return text == ""


# Option -> the key that it fills, and what may stand behind it.
_LONG: dict[str, tuple[str, Callable[[str], bool]]] = {
    "--token": ("token", token),
    "--job": ("job", _path),
    "--caller": ("caller", _word),
    "--user": ("user", _number),
    "--groupid": ("group", _number),
    "--capacity": ("capacity", _capacity),
    "--nodehostnamefile": ("nodes", _path),
    "--nidlistfile": ("nodes", _path),
    "--pathfile": ("pathfile", _path),
    "--hurry": ("hurry", _flag),
}
_SHORT: dict[str, tuple[str, Callable[[str], bool]]] = {
    "-c": ("caller", _word),
    "-t": ("token", token),
    "-u": ("user", _number),
    "-C": ("capacity", _capacity),
    "-a": ("access", _word),
    "-T": ("type", _word),
}
# Function -> its options, and the keys without which it means nothing.
_FUNCTIONS: dict[str, tuple[dict[str, tuple[str, Callable[[str], bool]]], str]] = {
    "pools": ({}, ""),
    "show_instances": ({}, ""),
    "show_sessions": ({}, ""),
    "show_configurations": ({}, ""),
    "job_process": (_LONG, "job"),
    "setup": (_LONG, "token user group capacity job"),
    "data_in": (_LONG, "token job"),
    "real_size": (_LONG, "token"),
    "paths": (_LONG, "token job pathfile"),
    "pre_run": (_LONG, "token job"),
    "post_run": (_LONG, "token job"),
    "data_out": (_LONG, "token job"),
    "teardown": (_LONG, "token"),
    "create_persistent": (_SHORT, "token user capacity"),
}


def read_arguments(argv: Sequence[str]) -> Call:
    """The call that stands behind the program's name. Raises UsageError."""
    if len(argv) < 2 or argv[0] != "--function":
        raise UsageError("usage: dw_wlm_cli --function FUNCTION [OPTION VALUE]...")
    if argv[1] not in _FUNCTIONS:
        raise UsageError(f"no function {argv[1]!r}; there are {', '.join(_FUNCTIONS)}")
    options, needed = _FUNCTIONS[argv[1]]
    values: dict[str, str] = {}
    rest = list(argv[2:])
    while rest:
        option = rest.pop(0)
        if option not in options:
            raise UsageError(f"{argv[1]} takes no {option!r}")
        key, good = options[option]
        if key in values:
            raise UsageError(f"{argv[1]}: {option} is given twice")
        value = "" if good is _flag else (rest.pop(0) if rest else "")
        if not good(value):
            raise UsageError(f"{argv[1]}: {option} {value!r} is not what it takes")
        values[key] = value
    missing = [key for key in needed.split() if key not in values]
    if missing:
        raise UsageError(f"{argv[1]} needs {', '.join(missing)}")
    return Call(argv[1], values)
