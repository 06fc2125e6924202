"""A site's service is root's, or that of a user who holds a few capabilities."""

from __future__ import annotations

import os
import pwd
import shutil

import pytest

from pegasus_bb.service.capabilities import NEEDED

NAME = "daemon"  # stands for slurm
ROOT, CAPABLE = "root", "with capabilities"

needs_setpriv = pytest.mark.skipif(
    os.getuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv"
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
        *("setpriv", *who),
        *("--inh-caps", capabilities, "--ambient-caps", capabilities),
    ]


def before(life: str) -> list[str]:
    """What starts a program in ``life``."""
    return capable() if life == CAPABLE else []
