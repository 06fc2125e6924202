"""pegasus.properties, the environment and -D, found and merged as by pegasus-plan."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from getpass import getuser
from pathlib import Path
from types import MappingProxyType

from pegasus_bb.core.errors import CatalogError, UsageError
from pegasus_bb.core.files import is_file, is_there
from pegasus_bb.model.settings import Properties, Setting

ENVIRONMENT = "_PEGASUS__"  # _PEGASUS__A__B is the property pegasus.a.b
_REFERENCE = re.compile(r"\$\{([-a-zA-Z0-9._]+)\}")


def _user_name() -> str:
    try:
        return getuser()
    except (KeyError, OSError):  # a number without a name, as in some containers
        return ""


# Properties of Java itself, which Pegasus's may name.
_JAVA: Mapping[str, Callable[[], str]] = {
    "user.home": lambda: str(Path.home()),
    "user.dir": os.getcwd,
    "user.name": _user_name,
    "java.io.tmpdir": lambda: "/tmp",  # noqa: S108 - what Java says
}


def read_properties(
    conf: Path | None,
    defines: Sequence[str],
    cwd: Path,
    home: Path,
    *,
    environ: Mapping[str, str] = MappingProxyType({}),
    installed: Path | None = None,
) -> Properties:
    """As Pegasus 5.1.3 does: of its own file, where it is ``installed``, ~/.pegasusrc,
    ./pegasus.properties and ``--conf`` each wins over those before, the environment
    over all files, and ``-D`` over that.

    Raises UsageError and CatalogError.
    """
    files = (installed, home / ".pegasusrc", cwd / "pegasus.properties")
    there = [file for file in files if file and is_file(file)]
    there += [conf] if conf and is_there(conf) else []
    return merged_properties(there, defines, environ)


def merged_properties(
    files: Iterable[Path],
    defines: Sequence[str],
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Properties:
    """Those of ``files``, then of ``environ``, then of ``defines``; the last wins.
    Raises UsageError and CatalogError."""
    last = dict(_of_environment(environ))
    defined = dict(map(_defined, defines))
    settings: dict[str, Setting] = {}
    for file in files:
        own = _read(file)
        known = {**settings, **own, **defined}
        settings |= {key: _expanded(one, known) for key, one in own.items()}
    return Properties({**settings, **last, **defined})


def _of_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    for name, value in environ.items():
        if name.startswith(ENVIRONMENT) and name.strip("_") != ENVIRONMENT.strip("_"):
            key = name[1:].lower().replace("__", ".")
            yield key, Setting(value.strip(), name)


def _defined(define: str) -> tuple[str, Setting]:
    key, equals, value = define.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"-D{define}: write -Dkey=value")
    return key.strip(), Setting(value.strip(), "-D")


def _expanded(
    setting: Setting, known: Mapping[str, Setting], within: frozenset[str] = frozenset()
) -> Setting:
    """``${KEY}`` in a value is that property, one of Java's, or nothing, as for
    Pegasus; so is one that names itself in a circle."""

    def value_of(match: re.Match[str]) -> str:
        key = match[1]
        if key in known and key not in within:
            return _expanded(known[key], known, within | {key}).value
        return _JAVA[key]() if key in _JAVA else ""

    return replace(setting, value=_REFERENCE.sub(value_of, setting.value))


def _read(file: Path) -> dict[str, Setting]:
    from javaproperties import KeyValue, parse  # with ssl and xml: 40 ms

    settings: dict[str, Setting] = {}
    line = 1
    try:
        for part in parse(file.read_text(encoding="utf-8-sig")):  # Windows adds a mark
            if isinstance(part, KeyValue):
                settings[part.key] = Setting(part.value.strip(), str(file), line)
            line += part.source.count("\n")
    except OSError as error:
        raise CatalogError(
            f"cannot be read: {error.strerror}", file=str(file)
        ) from error
    except ValueError as error:  # of its encoding, or of an escape
        raise CatalogError(f"is not a properties file: {error}", str(file)) from error
    return settings
