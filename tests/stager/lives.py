"""A site's service is root's, or that of a user who holds a few capabilities."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

import pegasus_bb
from pegasus_bb.stager.capabilities import NEEDED

NAME = "daemon"  # stands for slurm
ROOT = "root"
CAPABLE = "with capabilities"


def _is_there() -> bool:
    return any(entry.pw_name == NAME for entry in pwd.getpwall())


needs_setpriv = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv") or not _is_there(),
    reason=f"needs root, setpriv and the user {NAME}",
)
LIVES = [ROOT, pytest.param(CAPABLE, marks=needs_setpriv)]


def user() -> int:
    """Its number."""
    return pwd.getpwnam(NAME).pw_uid


def capable(*without: str) -> list[str]:
    """What starts a program as that user, with all capabilities but ``without``."""
    names = [name[4:].lower() for name in NEEDED if name not in without]
    capabilities = ",".join(["-all", *(f"+{name}" for name in names)])
    who = ["--reuid", NAME, "--regid", NAME, "--clear-groups"]
    return [
        "setpriv",
        *who,
        "--inh-caps",
        capabilities,
        "--ambient-caps",
        capabilities,
    ]


def python_for_all(folder: Path) -> list[str]:
    """What starts a Python with our code for a user who cannot read the clone: with a
    copy below ``folder``. Skips the test if no Python is open to every user."""
    pythons = (os.path.realpath(sys.executable), "/usr/bin/python3")
    found = next((path for path in pythons if _is_open(Path(path))), None)
    if found is None:
        pytest.skip("no Python here may be started by every user")
    copy = folder / "code" / "pegasus_bb"
    code = Path(pegasus_bb.__file__).parent
    shutil.copytree(code, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    for each in (copy.parent, *copy.parent.parents):
        if each.stat().st_mode & 0o011 == 0:
            each.chmod(0o711)
    return ["env", f"PYTHONPATH={copy.parent}", found]


def _is_open(path: Path) -> bool:
    """Whether every user may come to it and start it."""
    if not path.is_file() or not path.stat().st_mode & 0o001:
        return False
    return all(folder.stat().st_mode & 0o001 for folder in path.parents)


def before(life: str) -> list[str]:
    """What starts a program in ``life``."""
    return capable() if life == CAPABLE else []
