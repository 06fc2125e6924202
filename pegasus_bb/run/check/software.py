"""The software of this machine: HTCondor and its blahp, the real Pegasus, Kickstart."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from pegasus_bb.core.errors import PegasusBBError
from pegasus_bb.core.files import is_dir, is_file
from pegasus_bb.core.process import ask
from pegasus_bb.model.catalogs import Site
from pegasus_bb.model.finding import Finding, note, ok, wrong
from pegasus_bb.planner.local_files import has_htcondor
from pegasus_bb.planner.pegasus.pegasus_limits import check_kickstart
from pegasus_bb.planner.pegasus_home import PegasusHome
from pegasus_bb.planner.reading import UserInput
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.run.engine.dagman.queue import SUBMIT, submit_problem

_VERSION = re.compile(r"\$CondorVersion: (\d+)\.(\d+)\.(\d+)")
_DEFER = (8, 4, 0)  # the first DAGMan with SCRIPT DEFER
_ATTRIBUTES = "slurm_local_submit_attributes.sh"
_SECONDS = 20.0
_PATH = "gridstart.path"
_TRIED = (5, 1)
_PEGASUS = re.compile(r"(\d+)\.(\d+)\S*")


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


def of_pegasus(home: PegasusHome, given: UserInput, site: Site) -> Iterator[Finding]:
    yield _of_pegasus_version(home)
    if shutil.which(SUBMIT) is None:
        yield wrong(
            "pegasus",
            f"pegasus-plan calls {SUBMIT}, which is not on PATH",
            "a submit host with HTCondor, or --bb-planner builtin",
        )
    yield _of_kickstart(given, site)


def _of_pegasus_version(home: PegasusHome) -> Finding:
    answer = ask([home.tool("pegasus-version")], timeout=60)
    found = _PEGASUS.match(answer.out.strip())
    if found is None:
        message = answer.one_line[:120]
        return wrong(
            "pegasus", f"{home.bin}/pegasus-version does not answer: {message}"
        )
    version = (int(found[1]), int(found[2]))
    if version == _TRIED:
        return ok("pegasus", f"{found[0]} in {home.bin} plans")
    return note(
        "pegasus",
        f"{found[0]} in {home.bin} plans; this was tried with 5.1",
        "Pegasus 5.1, or --bb-planner builtin",
    )


def _of_kickstart(given: UserInput, site: Site) -> Finding:
    """Whether every task gets a record. pegasus-plan looks for none of this itself."""
    try:
        check_kickstart(Inputs.of(given.workflow, given.catalogs), site.name)
    except PegasusBBError as error:
        return wrong("kickstart", str(error))
    return _of_program(_program(given, site), site.name)


def _program(given: UserInput, site: Site) -> str:
    path = site.profile("pegasus", _PATH)
    path = path or given.catalogs.properties.get(f"pegasus.{_PATH}", "")
    entry = given.catalogs.transformations.executable("pegasus::kickstart", site.name)
    if path or entry:
        return path or (entry.pfn if entry else "")
    home = site.profile("env", "PEGASUS_HOME")
    return f"{home}/bin/pegasus-kickstart" if home else ""


def _of_program(program: str, site: str) -> Finding:
    if not program:
        return wrong(
            "kickstart",
            f"pegasus-plan finds no pegasus-kickstart for site {site}: the site "
            "catalog does not say where the site has its Pegasus",
            f"env: {{PEGASUS_HOME: FOLDER}} among the profiles of site {site}",
        )
    path = Path(program)
    if is_file(path) and os.access(path, os.X_OK):
        return ok("kickstart", f"{program} records every task")
    if is_dir(path.parent.parent):  # this machine has the folder, but not the program
        return wrong(
            "kickstart",
            f"{program} is no program on this machine, where {path.parent.parent} is",
            f"the PEGASUS_HOME of a whole Pegasus, in the env profiles of site {site}",
        )
    return note(
        "kickstart",
        f"{program} is not on this machine",
        f"none if site {site} has it; else its PEGASUS_HOME in the site catalog",
    )
