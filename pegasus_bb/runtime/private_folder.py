"""A folder of its own for each try of a job, as condorio and nonsharedfs have it.

    <workflow directory>/.jobs/<node>.<try>/     0700

It has the inputs of the job and nothing else. An input is a link to its file in the
workflow directory, which is closed to writing, or a copy (private_inputs.py). When the
task has ended, its declared outputs are renamed to the workflow directory, and all else
goes with the folder. The source of these rules is Pegasus's guide, "Data Staging
Configuration"; there every input is a copy.
"""

from __future__ import annotations

import errno
import os
import stat

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.removal import remove
from pegasus_bb.runtime.bbdir import NODES, BBDir, NodeNeeds
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.node_lock import lock_node
from pegasus_bb.runtime.private_inputs import LinkedInputs, bring
from pegasus_bb.runtime.private_outputs import Output, copy_links, move_back
from pegasus_bb.runtime.scratch_links import Link, RealFolders, checked_path
from pegasus_bb.runtime.task import (
    discard,
    missing_message,
    run_command,
    run_task,
    task_files,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FOLDER = ".jobs"
_INSIDE = "PEGASUS_BB_PRIVATE_FOLDER"  # in the environment of the tasks of a cluster
_MOST_TRIES = 1000  # folders of killed tries that could not be removed
_NODE_FOLDERS = ("PEGASUS_WN_TMP", "_CONDOR_SCRATCH_DIR", "TMPDIR")


class PrivateNeeds(NamedTuple):
    """What planning has noted for the private folder of a node. Files are LFNs."""

    scratch: str  # the workflow directory, as planned
    inputs: Sequence[str]
    outputs: Sequence[str]
    checkpoints: Sequence[str] = ()
    copied: Sequence[str] = ()  # inputs that are copied whatever their size
    read: Sequence[str] = ()  # outputs that other jobs read
    below: int = 0  # bytes: inputs up to this size are copied
    disk: Any = None  # path on the node, "" for the job's own; None: the tier
    keep_failed: int = 0  # seconds after a signal in which the folder is kept; 0: never


class PrivateFolder(NamedTuple):
    """The private folder of one try."""

    needs: PrivateNeeds
    node: str
    scratch: str  # the workflow directory, where it is now
    path: str

    @property
    def going(self) -> tuple[str, str]:
        """The folders that will be gone: links to them must not stay."""
        return self.path, self.scratch


def private_needs(bb: BBDir, node: NodeNeeds) -> PrivateNeeds:
    """Raises UsageError."""
    try:
        return PrivateNeeds(**node.private)
    except TypeError as error:
        file = bb.file(f"{NODES}/{node.name}.json")
        raise UsageError(f"{file}: cannot be used ({error}); plan again") from error


def run_in_private_folder(
    bb: BBDir,
    node: NodeNeeds,
    shared: Binding | None,
    argv: list[str],
    environ: dict[str, str],
) -> int:
    """Run ``argv`` in a folder of its own; returns its exit status, or 1 if an output
    is missing or an input was changed in place.

    Raises UsageError, and OSError or PegasusBBError before anything was started.
    """
    needs = private_needs(bb, node)
    if environ.get(_INSIDE) == node.name:  # the cluster has the folder
        return run_command(bb, argv, environ)
    lock_node(bb, environ)
    scratch = shared.text(needs.scratch) if shared else needs.scratch
    name = _place_of_folders(bb, needs, scratch, environ) + node.name
    is_on_tier = needs.disk is None
    path, lock = (_make_folder(name), None) if is_on_tier else _make_locked(name)
    try:
        if os.path.exists(_wants_copies(scratch, node.name)):
            needs = needs._replace(copied=needs.inputs)
        folder = PrivateFolder(needs, node.name, scratch, path)
        linked = _fill(folder)
        binding = Binding(needs.scratch, path, shared)
        bound = {**binding.environ(environ), _INSIDE: node.name}
        links, hinted = task_files(bb, node, binding, scratch)
        _remove_older_outputs(needs, links)
        argv = binding.argv(argv)

        def work() -> int:
            status = run_task(
                bb,
                binding,
                argv,
                bound,
                links=links,
                hinted=hinted,
                vanishing=folder.going,
            )
            return _finish(folder, linked, links, status)

        if not needs.keep_failed:
            return work()
        from pegasus_bb.runtime.failed_folder import run_and_keep

        return run_and_keep(bb, node.name, path, needs.keep_failed, environ, work)
    finally:
        discard(path)
        if lock is not None:
            os.close(lock)


def _make_locked(name: str) -> tuple[str, int]:
    """A new folder on the disk of the node, and a descriptor with its lock: pegasus-bb
    gc --nodes removes what has none."""
    from pegasus_bb.runtime.job_reservation.disk import lock_new

    while True:
        folder = _make_folder(name)
        lock = lock_new(folder)
        if lock is not None:
            return folder, lock


def _place_of_folders(
    bb: BBDir, needs: PrivateNeeds, scratch: str, environ: Mapping[str, str]
) -> str:
    """What the paths of the private folders begin with: a folder of the workflow
    directory, or one on the disk of the node and a word for this run. Raises UsageError
    if that folder is another user's, or cannot be named."""
    if needs.disk is None:
        return os.path.join(scratch, FOLDER, "")
    import hashlib

    try:
        home = home_on_disk(needs.disk, environ)
    except ValueError as error:
        raise UsageError(f"no disk for this job's folder: {error}") from error
    _mkdir_if_missing(home)
    found = os.lstat(home)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UsageError(
            f"{home}: is not a folder of this user, and others could change files "
            "there; remove it, or let PEGASUS_WN_TMP name another folder"
        )
    run = hashlib.sha256(os.fsencode(bb.path)).hexdigest()[:12]
    return os.path.join(home, f"{run}.")


def home_on_disk(disk: str, environ: Mapping[str, str]) -> str:
    """The folder of all private folders of this user on a node; ``disk`` as planning
    has noted it. Raises ValueError."""
    from pegasus_bb.core.paths import node_path

    if disk:
        place = node_path(disk, environ)
    else:
        known = (environ.get(name, "") for name in _NODE_FOLDERS)
        place = next(filter(None, known), "/tmp")  # noqa: S108 - as Pegasus does
    return os.path.join(place, f"pegasus-bb-jobs-{os.getuid()}")


def _make_folder(name: str) -> str:
    """Make the folder ``name``.N; those that killed tries have left are removed."""
    left = []
    for number in range(_MOST_TRIES):
        folder = f"{name}.{number}"
        try:
            _mkdir(folder)
        except FileExistsError:
            left.append(folder)
            continue
        for path in left:
            discard(path)
        return folder
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), left[0])


def _mkdir(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        _mkdir_if_missing(os.path.dirname(folder))
        os.mkdir(folder, 0o700)


def _mkdir_if_missing(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:  # of another job
        pass


def _fill(folder: PrivateFolder) -> LinkedInputs:
    """Bring the inputs, and the checkpoints that there are. Raises LinkFailed."""
    needs, _, scratch, path = folder
    names = (*needs.inputs, *needs.outputs, *needs.checkpoints)
    for inner in {os.path.dirname(lfn) for lfn in names if "/" in lfn}:
        os.makedirs(checked_path(path, inner), exist_ok=True)
    linked = LinkedInputs()
    copied = set(needs.copied)
    real = RealFolders()

    def fetch(lfn: str, *, whole: bool) -> None:
        source, here = place(scratch, lfn, real), place(path, lfn, real)
        bring(lfn, source, here, linked, below=needs.below, whole=whole)

    for lfn in needs.inputs:
        fetch(lfn, whole=lfn in copied)
    for lfn in needs.checkpoints:
        if os.path.exists(place(scratch, lfn, real)):
            fetch(lfn, whole=True)
    return linked


def place(folder: str, lfn: str, real: RealFolders) -> str:
    """The path of ``lfn`` in ``folder``. Raises UsageError if it leads outside."""
    if "/" in lfn or lfn in ("", ".", ".."):
        return checked_path(folder, lfn, real)
    return os.path.join(folder, lfn)


def _remove_older_outputs(needs: PrivateNeeds, links: Sequence[Link]) -> None:
    """Remove what a failed try has written through planned links: each try begins
    without outputs. Raises OSError."""
    kept = {*needs.checkpoints, *needs.inputs}
    for link in links:
        if link.ours and link.lfn not in kept:
            remove(link.target)


def _wants_copies(scratch: str, node: str) -> str:
    """The folder that is there if the next try of ``node`` is to have copies."""
    return os.path.join(scratch, FOLDER, f"{node}.copies")


def _finish(
    folder: PrivateFolder, linked: LinkedInputs, links: Sequence[Link], status: int
) -> int:
    """Give checkpoints and outputs back; returns the exit status of the job."""
    needs = folder.needs
    real = RealFolders()  # new: the task may have changed folders
    there = (place(folder.path, lfn, real) for lfn in needs.checkpoints)
    made = [n for n, path in zip(needs.checkpoints, there) if os.path.lexists(path)]
    status = _give_back(folder, made, status)
    if status:
        tell(linked.changed() or _wish_for_copies(folder, linked) or linked.advice())
        return status
    tell(why := linked.changed() or _missing(needs, folder.path, real))
    if why:
        return 1
    for lfn in needs.outputs:
        linked.open_copy(place(folder.path, lfn, real))
    planned = {link.lfn: link.target for link in links}
    return _give_back(folder, needs.outputs, status, read=needs.read, planned=planned)


def _wish_for_copies(folder: PrivateFolder, linked: LinkedInputs) -> str:
    """Let the next try have copies, where a closed copy may be why this one failed; a
    message about it, or empty."""
    copy = linked.closed_copy(folder.path)
    if not copy:
        return ""
    os.makedirs(_wants_copies(folder.scratch, folder.node), exist_ok=True)
    return (
        f"{os.path.relpath(copy, folder.path)} is a copy of an input, and closed to "
        "writing as that is; the next try has copies of its own"
    )


def _missing(needs: PrivateNeeds, folder: str, real: RealFolders) -> str:
    paths = ((lfn, place(folder, lfn, real)) for lfn in needs.outputs)
    return missing_message([lfn for lfn, path in paths if not os.path.lexists(path)])


def _give_back(
    folder: PrivateFolder,
    lfns: Sequence[str],
    status: int,
    *,
    read: Sequence[str] = (),
    planned: Mapping[str, str] = {},
) -> int:
    closed = set(read)
    real = RealFolders()
    faults = _Faults()
    folders: set[str] = set()  # of outputs, in the workflow directory
    left: list[Output] = []
    for lfn in lfns:
        with faults.of(lfn):
            made = place(folder.path, lfn, real)
            dest = place(folder.scratch, lfn, real)
            above = os.path.dirname(dest)
            if "/" in lfn and above not in folders and os.path.isdir(folder.scratch):
                os.makedirs(above, exist_ok=True)  # Pegasus makes none
                folders.add(above)
            output = Output(made, dest, lfn in closed, planned.get(lfn, ""))
            if copy_links(output, folder.going):
                left.append(output)
    for output in left:
        with faults.of(output.dest):
            move_back(output, folder.going)
    return status or faults.status


class _Faults:
    """Tells what goes wrong in its bodies; ``status`` is 1 then."""

    def __init__(self) -> None:
        self.status = 0
        self._name = ""

    def of(self, name: str) -> _Faults:
        self._name = name
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, PegasusBBError):
            tell(str(error))
        elif isinstance(error, OSError):
            tell(f"{error.filename or self._name}: {error.strerror}")
        else:
            return False
        self.status = 1
        return True
