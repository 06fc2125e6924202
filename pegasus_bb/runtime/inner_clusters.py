"""The clusters of a sub-workflow that a real pegasus-plan has planned.

HTCondor, or blahp, would start a cluster in its workflow directory, below the planned
prefix, which no node has. The Kickstart of each task changes to that folder anyway.
"""

from __future__ import annotations

import glob
import os
import re

from pegasus_bb.core.files import read_text, write_text
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.proc import run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OUTSIDE_SCRATCH = "/tmp"  # noqa: S108 - where pegasus-plan lets create_dir start
_CLUSTERS = "merge_*.sub"


def plan_inner(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """``PREFIX FOLDER PRE ARG...``: the exit status of PRE, which plans into FOLDER.
    Raises ProgramNotStarted, OSError."""
    prefix, folder, *argv = words
    status = run(argv[0], argv, environ)
    if status == 0:
        pattern = os.path.join(glob.escape(folder), "**", _CLUSTERS)
        for file in glob.iglob(pattern, recursive=True):
            _start_outside(file, prefix)
    return status


def _start_outside(file: str, prefix: str) -> None:
    text = read_text(file)
    changed = start_outside(text, prefix)
    if changed != text:
        write_text(file, changed)


def start_outside(text: str, folder: str) -> str:
    """The submit file ``text`` of a job that starts in /tmp in place of ``folder``, or
    of one below it. Styles condor and glite name it in ways of their own."""
    place = r'(remote_initialdir = |\+remote_iwd = ")%s(?:/[^"\n]*)?(?=["\n])'
    form = re.compile("^" + place % re.escape(folder), re.MULTILINE)
    return form.sub(lambda match: match[1] + OUTSIDE_SCRATCH, text)
