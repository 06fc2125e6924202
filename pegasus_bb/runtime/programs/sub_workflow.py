"""Plans and runs a sub-workflow: `sub_workflow NODE`, a job on the submit host.

bb/sub/NODE.json says how. The inputs become links in one folder, where the planning
runs; what other jobs want of the results becomes links in bb/exchange. A further try
goes on with the inner run that is there, unless that has ended well or its workflow has
changed: then it is planned again.

With a real Pegasus it is a PRE script: `sub_workflow --plan PREFIX FOLDER PRE ARG...`
calls the PRE script that pegasus-plan has written (inner_clusters.py).
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from pegasus_bb.core.errors import BUG, PegasusBBError, RunFailed, UsageError
from pegasus_bb.core.files import (
    UNREADABLE,
    make_folder_of,
    read_json,
    read_text,
    write_json,
)
from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.proc import ProgramNotStarted, run
from pegasus_bb.runtime.scratch_links import put_link
from pegasus_bb.runtime.transfers.transfer_jobs import Transfer, read_jobs

if TYPE_CHECKING:
    from typing import Any

PLAN = "--plan"
_TIERS = "x-storage-tiers"
_STATE = "planned.json"  # digest of what was planned; whether it has ended well
# Of the outer node: the jobs inside have their own.
_OF_THE_NODE = (
    "CONDOR_JOBID",
    "PEGASUS_DAG_JOB_ID",
    "PEGASUS_SITE",
    "PEGASUS_WF_LABEL",
    "PEGASUS_WF_UUID",
    "_PEGASUS_WF_SUBMIT_DIR",
)


def main(argv: Sequence[str] | None = None) -> int:
    """``sub_workflow NODE``: the exit status of the inner planning or run."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == [PLAN]:
            from pegasus_bb.runtime.inner_clusters import plan_inner

            return plan_inner(arguments[1:], os.environ)
        if len(arguments) != 1:
            raise UsageError("sub_workflow: next: sub_workflow NODE")
        return SubWorkflow(BBDir.of_this_program(), arguments[0]).run(os.environ)
    except PegasusBBError as error:
        print(f"sub_workflow: {error}", file=sys.stderr)
        return error.exit_code
    except ProgramNotStarted as error:
        print(f"sub_workflow: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"sub_workflow: {error.filename}: {error.strerror}", file=sys.stderr)
        return BUG


class SubWorkflow:
    def __init__(self, bb: BBDir, node: str) -> None:
        """Raises UsageError if its file cannot be read."""
        file = bb.file(f"sub/{node}.json")
        try:
            self._plan = read_json(file)
            self._folder = str(self._plan["folder"])
        except UNREADABLE as error:
            raise UsageError(f"{file}: cannot be read ({error}); plan again") from error
        self._bb = bb
        self._inputs = os.path.join(self._folder, "inputs")
        self._inner = os.path.join(self._folder, "run")  # its submit directory

    def run(self, environ: Mapping[str, str]) -> int:
        """Plan it if that is needed, run it, and hand its results on. Raises
        RunFailed if one is missing."""
        inside = {k: v for k, v in environ.items() if k not in _OF_THE_NODE}
        self._link_inputs()
        os.chdir(self._inputs)
        digest = self._digest()
        state = self._state()
        is_there = os.path.isdir(self._inner)
        if not is_there or state != {"digest": digest, "done": False}:
            more = ["--force"] if is_there else []
            status = self._command(["plan", "--quiet", *more, *self._words()], inside)
            if status:
                return status
            self._note(digest, done=False)
        status = self._command(["run", self._inner], inside)
        if status:
            return status
        self._hand_on()
        self._note(digest, done=True)
        return 0

    def _link_inputs(self) -> None:
        os.makedirs(self._inputs, exist_ok=True)
        for lfn, path in self._plan["inputs"].items():
            link = os.path.join(self._inputs, lfn)
            make_folder_of(link)
            put_link(link, path)

    def _words(self) -> list[str]:
        """The words after ``plan``."""
        conf = self._plan["conf"]
        named = read_text(conf) if conf else ""
        words = ["--conf", conf or self._plan["properties"], *self._plan["defines"]]
        for kind in self._plan["catalogs"]:
            key = f"pegasus.catalog.{kind}.file"
            if key not in named:
                words.append(f"-D{key}={self._bb.file(f'sub/{kind}s.yml')}")
        tiers = self._bb.file("sub/bb.yml")
        is_own = os.path.exists("sites.yml") and _TIERS not in read_text("sites.yml")
        if is_own and os.path.exists(tiers):
            words.append(f"-Dpegasus.bb.tiers={tiers}")
        return [*words, *self._plan["options"], self._plan["workflow"]]

    def _command(self, words: list[str], environ: Mapping[str, str]) -> int:
        argv = [*self._plan["command"], *words]
        return run(argv[0], argv, environ)

    def _digest(self) -> str:
        """Changes with the workflow file and with how it is planned."""
        digest = hashlib.sha256(json.dumps(self._plan).encode())
        with open(self._plan["workflow"], "rb") as source:
            digest.update(source.read())
        return digest.hexdigest()

    def _state(self) -> Any:
        try:
            return read_json(os.path.join(self._folder, _STATE))
        except (OSError, ValueError):
            return None

    def _note(self, digest: str, *, done: bool) -> None:
        state = {"digest": digest, "done": done}
        write_json(os.path.join(self._folder, _STATE), state)

    def _hand_on(self) -> None:
        wanted = dict.fromkeys(self._plan["outputs"], "")
        if not wanted:
            return
        for lfn, path in self._delivered():
            if lfn in wanted and os.path.exists(path):
                wanted[lfn] = path
        for lfn, path in wanted.items():
            if not path:
                raise RunFailed(
                    f"{self._inner}: it has ended well, but {lfn!r}, which other jobs "
                    "read, was not staged out: stageOut: true for it in "
                    f"{self._plan['workflow']}"
                )
            place = self._bb.file(os.path.join("exchange", lfn))
            if path != place:
                make_folder_of(place)
                put_link(place, path)

    def _delivered(self) -> Iterator[tuple[str, str]]:
        """Each result of the inner run, of those inside it too, and where it is."""
        pattern = os.path.join(glob.escape(self._inner), "**", "stage_out_*.in")
        for file in sorted(glob.glob(pattern, recursive=True)):
            for job in read_jobs(read_text(file)):
                if isinstance(job, Transfer) and job.dests[0].is_local:
                    yield job.lfn, job.dests[0].path
