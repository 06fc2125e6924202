"""What of the host is seen inside at the same paths: this package with its Python, and
a Pegasus with its Java and Python."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pegasus_bb
from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.files import write_json, write_text
from pegasus_bb.core.process import ask
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call, holder_of
from pegasus_bb_testbed.own_python import python_inside

_SYSTEM = Path("/usr")
_COMMAND = "usr/local/bin/pegasus-bb"
_PYTHON = """import json, os, sys, sysconfig
print(json.dumps([sys.executable, sys.base_prefix, sys.prefix,
                  sysconfig.get_path("stdlib"), os.path.realpath(sys.executable)]))
"""
_JAVA = ["-XshowSettings:properties", "-version"]
_CONDOR_CONFIG = "etc/condor/config.d/60-pegasus.config"
# HTCondor starts Pegasus's own jobs with the environment of the submit file alone.
_OF_EACH_JOB = ("JAVA_HOME", "PEGASUS_PYTHON", "GIT_PYTHON_REFRESH")


def share_ourselves(home: Home) -> None:
    """Let this very Python and package be seen inside at the same paths, and found on
    PATH. May be repeated, also by another installation. Raises PegasusBBError."""
    _show_all(home, _own_paths())
    command = Path(f"{home.root}/{_COMMAND}")
    # A file of ours and not a link: an installation may have no such program.
    python = shlex.quote(python_inside(home.root, _SYSTEM))
    command.write_text(f'#!/bin/sh\nexec {python} -m pegasus_bb "$@"\n')
    command.chmod(0o755)


def _own_paths() -> list[Path]:
    stdlib = Path(sysconfig.get_path("stdlib"))
    program = Path(sys.executable)
    python = _python_paths(
        Path(sys.base_prefix), Path(sys.prefix), stdlib, program.resolve()
    )
    package = Path(pegasus_bb.__file__).resolve().parents[1]
    ours = Path(__file__).resolve().parents[1]
    return list(dict.fromkeys([*python, package, ours]))


@dataclass(frozen=True)
class Installed:
    """A Pegasus of this host: what it is called with, and what has to be seen of it."""

    environ: dict[str, str]
    paths: tuple[Path, ...]


def find_installed(folder: Path, environ: Mapping[str, str]) -> Installed:
    """The Pegasus whose programs are in ``folder``. Raises UsageError where Java or
    Python is missing, or where it lies where the testbed has its own files."""
    home = folder.parent
    if home in (_SYSTEM, Path("/")):
        raise UsageError(
            f"the Pegasus in {folder} is a part of the host's own system and cannot be "
            "shown in the testbed, which has a system of its own; unpack a binary "
            "distribution of Pegasus somewhere and set PEGASUS_HOME"
        )
    java = _java_home(environ)
    python, python_seen = _python(environ)
    said = {
        "PEGASUS_HOME": str(home),
        "JAVA_HOME": str(java),
        "PEGASUS_PYTHON": python,
        "PEGASUS_METRICS": "false",  # there is no network
        "GIT_PYTHON_REFRESH": "quiet",  # nor git, which its Python looks for
        "PATH": str(folder),
    }
    paths = [home, java, *_led_to(java), *python_seen]
    return Installed(said, tuple(dict.fromkeys(paths)))


def share_pegasus(home: Home, installed: Installed) -> None:
    """Let it be seen inside at the same paths and found by every command.

    May be repeated. Raises PegasusBBError, with its own words where it does not work.
    """
    _show_all(home, installed.paths)
    if home.flavour.htcondor:  # it has a mount namespace of its own, made before
        call(home, ["condor_restart", "-fast", "-daemon", "startd"])
    _tell_condor(home, installed.environ)
    write_json(str(home.environ), installed.environ)
    for tool in ("pegasus-preflight-check", "pegasus-version"):
        answer = call(home, [tool])
        if answer.status != 0:
            home.environ.unlink()
            said = (answer.err or answer.out).strip()[-600:]
            raise PegasusBBError(f"in the testbed, {tool} failed: {said}")


def forget_pegasus(home: Home) -> None:
    """No job of HTCondor's is told of the Pegasus of the last time."""
    (home.root / _CONDOR_CONFIG).unlink(missing_ok=True)


def _tell_condor(home: Home, environ: Mapping[str, str]) -> None:
    """Jobs on the submit host, such as registrations, find Java and Python."""
    if home.flavour.htcondor:
        pairs = (f"{key}='{environ[key]}'" for key in _OF_EACH_JOB if key in environ)
        line = f'STARTER_JOB_ENVIRONMENT = "{" ".join(pairs)}"\n'
        write_text(str(home.root / _CONDOR_CONFIG), line)


def _java_home(environ: Mapping[str, str]) -> Path:
    """As Java itself says it: $JAVA_HOME, or where ``java`` on PATH leads."""
    named = environ.get("JAVA_HOME")
    program = f"{named}/bin/java" if named else _on_path("java", environ)
    answer = ask([program or "java", *_JAVA])
    for line in answer.err.splitlines():
        key, _, value = line.partition(" = ")
        if key.strip() == "java.home":
            return Path(value.strip())
    raise UsageError(
        f"Pegasus needs Java: set JAVA_HOME, or put java on PATH ({answer.err.strip()})"
    )


def _python(environ: Mapping[str, str]) -> tuple[str, list[Path]]:
    """The interpreter that Pegasus would take here, and what has to be seen of it."""
    named = environ.get("PEGASUS_PYTHON") or _on_path("python3", environ)
    answer = ask([named or "/usr/bin/python3", "-c", _PYTHON])
    if answer.status != 0:
        raise UsageError(f"Pegasus needs python3: {answer.err.strip()[-300:]}")
    executable, base, prefix, stdlib, program = json.loads(answer.out)
    seen = _python_paths(Path(base), Path(prefix), Path(stdlib), Path(program))
    # A name such as /usr/bin/python3 is another Python inside.
    is_system = Path(base) == Path(prefix) == _SYSTEM
    return (program if is_system else executable), seen


def _on_path(program: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(program, path=environ.get("PATH", os.defpath))


def _led_to(folder: Path) -> Iterable[Path]:
    """Files below /etc that links in ``folder`` lead to: Debian keeps Java's settings
    there."""
    for above, _, names in os.walk(folder):
        for path in (Path(above, name) for name in names):
            target = path.resolve()
            if path.is_symlink() and target.is_relative_to("/etc") and target.exists():
                yield target


def _show_all(home: Home, paths: Iterable[Path]) -> None:
    for path in paths:
        _show(home, path)
    _do(home, "chroot", str(home.root), "ldconfig")  # a Python of /usr/local needs it


def _python_paths(base: Path, prefix: Path, stdlib: Path, program: Path) -> list[Path]:
    """What has to be seen of a Python; of a system's own only what may be lacking."""
    python = [stdlib, program] if base == _SYSTEM else [base]
    return python + ([prefix] if prefix != base else [])


def _show(home: Home, path: Path) -> None:
    target = f"{home.root}{path}"
    if _do(home, "mountpoint", "-q", target) == 0:
        return
    if path.is_dir():
        _do(home, "mkdir", "-p", target)
    else:
        _do(home, "mkdir", "-p", os.path.dirname(target))  # noqa: PTH120 - as text
        _do(home, "touch", target)
    for above in path.parents[:-1]:  # such as /root: users pass through, see nothing
        _do(home, "chmod", "a+x", f"{home.root}{above}")
    if _do(home, "mount", "--bind", str(path), target) != 0:
        raise PegasusBBError(f"{path} cannot be shown in the testbed as {target}")


def _do(home: Home, *argv: str) -> int:
    """As root among the mounts of the testbed, seen from outside."""
    return ask(["nsenter", f"--target={holder_of(home)}", "--mount", *argv]).status
