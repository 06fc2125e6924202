"""HTCondor on this machine: its version, its schedd, and what blahp hands on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.core.process import ask
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.planner.local_files import has_htcondor
from pegasus_bb.run.engine.dagman.queue import submit_problem

_VERSION = re.compile(r"\$CondorVersion: (\d+)\.(\d+)\.(\d+)")
_DEFER = (8, 4, 0)  # the first DAGMan with SCRIPT DEFER
_ATTRIBUTES = "slurm_local_submit_attributes.sh"
_SECONDS = 20.0


def of_htcondor(style: str) -> Iterator[Finding]:
    """``style``: how the site's jobs are submitted, glite, ssh or condor."""
    if not has_htcondor():
        reason = "no HTCondor on PATH: `pegasus-bb run` starts every job here"
        mend = "for jobs elsewhere, a submit host with HTCondor"
        yield note("htcondor", reason, mend)
        return
    yield from _of_version()
    why = submit_problem()
    if why:
        mend = "" if os.geteuid() else "check as the user who will run the workflow"
        yield wrong("htcondor", f"nothing can be submitted: {why}", mend)
    else:
        yield ok("htcondor", "a schedd answers")
    if style == "glite":
        yield _of_blahp()
    elif style == "ssh":
        reason = (
            "style ssh: the blahp of the other host, which gives the jobs to Slurm,"
        )
        reason += " is not seen from here"
        mend = f"{_ATTRIBUTES} there, and the paths of this machine's home and scratch"
        yield note("blahp", reason, mend)


def _of_version() -> Iterator[Finding]:
    answer = ask(["condor_version"], timeout=_SECONDS)
    found = _VERSION.search(answer.out)
    if found is None:
        yield note("htcondor", f"condor_version says {answer.out.strip()[:80]!r}")
        return
    version = tuple(map(int, found.groups()))
    text = ".".join(found.groups())
    if version < _DEFER:
        yield wrong(
            "htcondor",
            f"version {text} has no SCRIPT DEFER, so the gate could not wait",
            "HTCondor 8.4 or newer",
        )
    else:
        yield ok("htcondor", f"version {text}: its DAGMan knows SCRIPT DEFER")


def _of_blahp() -> Finding:
    file = next((file for file in _attribute_files() if file.is_file()), None)
    if file is None:
        why = f"there is no {_ATTRIBUTES}, so Slurm would not hear of the buffer"
    elif "EXTRA_ARGUMENTS" in file.read_text(errors="replace"):
        return ok("blahp", f"{file} hands on what a job asks of Slurm")
    else:
        why = f"{file} does not hand on what a job asks of Slurm (EXTRA_ARGUMENTS)"
    mend = "pegasus-configure-glite (docs/how-to/slurm-datawarp.md, administrator 3)"
    return wrong("blahp", why, mend)


def _attribute_files() -> Iterator[Path]:
    yield Path("/etc/blahp") / _ATTRIBUTES
    for name in ("BLAHPD_LOCATION", "GLITE_LOCATION"):
        answer = ask(["condor_config_val", name], timeout=_SECONDS)
        if answer.status == 0 and answer.out.startswith("/"):
            home = Path(answer.out.strip())
            yield home / "etc" / "blahp" / _ATTRIBUTES
            yield home / "libexec" / "blahp" / _ATTRIBUTES
            yield home / "bin" / _ATTRIBUTES
