"""A folder of its own for each try of a job, as condorio and nonsharedfs have it.

    <workflow directory>/.jobs/<node>.<try>/     0700

It has the inputs of the job and nothing else. An input is a link to its file in the
workflow directory, which is closed to writing, or a copy (private_inputs.py). When the
task has ended, its declared outputs are renamed to the workflow directory, and all else
goes with the folder. The source of these rules is Pegasus's guide, "Data Staging
Configuration"; there every input is a copy.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping, Sequence

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import close_to_writing
from pegasus_bb.runtime.bbdir import NODES, BBDir, NodeNeeds
from pegasus_bb.runtime.bind import Binding
from pegasus_bb.runtime.links import Link, checked_path
from pegasus_bb.runtime.node_lock import lock_node
from pegasus_bb.runtime.private_inputs import LinkedInputs, bring
from pegasus_bb.runtime.task import (
    missing_message,
    run_command,
    run_task,
    task_files,
    tell,
)

if TYPE_CHECKING:
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
    folder = _make_folder(_place_of_folders(bb, needs, scratch, environ) + node.name)
    try:
        if os.path.exists(_wants_copies(scratch, node.name)):
            needs = needs._replace(copied=needs.inputs)
        linked = _fill(needs, scratch, folder)
        binding = Binding(needs.scratch, folder, shared)
        bound = {**binding.environ(environ), _INSIDE: node.name}
        links, hinted = task_files(bb, node, binding, scratch)
        argv = binding.argv(argv)
        status = run_task(bb, binding, argv, bound, links=links, hinted=hinted)
        return _finish(needs, node.name, folder, scratch, linked, links, status)
    finally:
        _discard(folder)


def _place_of_folders(
    bb: BBDir, needs: PrivateNeeds, scratch: str, environ: Mapping[str, str]
) -> str:
    """What the paths of the private folders begin with: a folder of the workflow
    directory, or one on the disk of the node and a word for this run. Raises UsageError
    if that folder is another user's."""
    if needs.disk is None:
        return os.path.join(scratch, FOLDER, "")
    import hashlib

    from pegasus_bb.core.paths import node_path

    if needs.disk:
        disk = node_path(needs.disk, environ)
    else:
        known = (environ.get(name, "") for name in _NODE_FOLDERS)
        disk = next(filter(None, known), "/tmp")  # noqa: S108 - as Pegasus does
    home = os.path.join(disk, f"pegasus-bb-jobs-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(home, 0o700)
    found = os.lstat(home)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UsageError(
            f"{home}: is not a folder of this user, and others could change files "
            "there; remove it, or let PEGASUS_WN_TMP name another folder"
        )
    run = hashlib.sha256(os.fsencode(bb.path)).hexdigest()[:12]
    return os.path.join(home, f"{run}.")


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
            _discard(path)
        return folder
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), left[0])


def _mkdir(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.dirname(folder), 0o700)
        os.mkdir(folder, 0o700)


def _fill(needs: PrivateNeeds, scratch: str, folder: str) -> LinkedInputs:
    """Bring the inputs, and the checkpoints that there are. Raises LinkFailed."""
    names = (*needs.inputs, *needs.outputs, *needs.checkpoints)
    for inner in {os.path.dirname(lfn) for lfn in names if "/" in lfn}:
        os.makedirs(checked_path(folder, inner), exist_ok=True)
    linked = LinkedInputs()
    copied = set(needs.copied)

    def fetch(lfn: str, *, whole: bool) -> None:
        source, here = place(scratch, lfn), place(folder, lfn)
        bring(lfn, source, here, linked, below=needs.below, whole=whole)

    for lfn in needs.inputs:
        fetch(lfn, whole=lfn in copied)
    for lfn in needs.checkpoints:
        if os.path.exists(place(scratch, lfn)):
            fetch(lfn, whole=True)
    return linked


def place(folder: str, lfn: str) -> str:
    """The path of ``lfn`` in ``folder``. Raises UsageError if it leads outside."""
    if "/" in lfn or lfn in ("", ".", ".."):
        return checked_path(folder, lfn)
    return os.path.join(folder, lfn)


def _wants_copies(scratch: str, node: str) -> str:
    """The folder that is there if the next try of ``node`` is to have copies."""
    return os.path.join(scratch, FOLDER, f"{node}.copies")


def _finish(
    needs: PrivateNeeds,
    node: str,
    folder: str,
    scratch: str,
    linked: LinkedInputs,
    links: Sequence[Link],
    status: int,
) -> int:
    """Give checkpoints and outputs back; returns the exit status of the job."""
    made = [lfn for lfn in needs.checkpoints if os.path.lexists(place(folder, lfn))]
    status = _give_back(made, folder, scratch, status)
    if status:
        why = linked.changed()
        if not why and (copy := linked.closed_copy(folder)):
            copies = _wants_copies(scratch, node)
            os.makedirs(copies, exist_ok=True)
            why = (
                f"{os.path.relpath(copy, folder)} is a copy of an input, and closed to "
                "writing as that is; the next try has copies of its own"
            )
        tell(why or linked.advice())
        return status
    tell(why := linked.changed() or _missing(needs, folder))
    if why:
        return 1
    for lfn in needs.outputs:
        linked.open_copy(place(folder, lfn))
    planned = {link.lfn for link in links}
    return _give_back(
        needs.outputs, folder, scratch, status, read=needs.read, planned=planned
    )


def _missing(needs: PrivateNeeds, folder: str) -> str:
    lost = [n for n in needs.outputs if not os.path.lexists(place(folder, n))]
    return missing_message(lost)


def _give_back(
    lfns: Sequence[str],
    folder: str,
    scratch: str,
    status: int,
    *,
    read: Sequence[str] = (),
    planned: Any = (),
) -> int:
    closed = set(read)
    for lfn in lfns:
        try:
            made = place(folder, lfn)
            dest = place(scratch, lfn)
            going = (folder, scratch)
            _move(made, dest, going, is_read=lfn in closed, is_link=lfn in planned)
        except PegasusBBError as error:
            tell(str(error))
            status = status or 1
        except OSError as error:
            tell(f"{error.filename or lfn}: {error.strerror}")
            status = status or 1
    return status


def _move(
    made: str, dest: str, going: Sequence[str], *, is_read: bool, is_link: bool
) -> None:
    """Rename ``made`` to ``dest``. A task's own link is copied as what it leads to, and
    so is what lies on another file system. ``going``: the folders that will be gone."""
    found = os.lstat(made)
    if stat.S_ISLNK(found.st_mode) and not is_link:
        _copy_back(made, dest, going, is_read=is_read)
        return
    if is_read and stat.S_ISREG(found.st_mode):
        close_to_writing(made, found.st_mode)
    elif stat.S_ISDIR(found.st_mode):
        _resolve_links(made, going)
    try:
        os.rename(made, dest)
    except OSError as error:
        if error.errno == errno.EXDEV:
            _copy_back(made, dest, going, is_read=is_read)
            return
        if error.errno not in (errno.EISDIR, errno.ENOTEMPTY, errno.EEXIST):
            raise
        from pegasus_bb.core.removal import remove

        remove(dest)  # of an earlier try; nothing can be renamed over a folder
        os.rename(made, dest)


def _resolve_links(made: str, going: Sequence[str]) -> None:
    """Replace the links in folder ``made`` that will lead nowhere by what they lead to:
    inputs that the task has moved there are such links. Raises OSError, CopyFailed."""
    folders = [made]
    for folder in folders:
        with os.scandir(folder) as entries:
            inner = list(entries)
        folders += [each.path for each in inner if each.is_dir(follow_symlinks=False)]
        for each in inner:
            if each.is_symlink() and _will_break(each.path, made, going):
                from pegasus_bb.runtime.staging.folder_lfns import copy_path

                real = os.path.realpath(each.path)
                os.unlink(each.path)
                copy_path(real, each.path, digest=False, vanishing=going)


def _will_break(link: str, made: str, going: Sequence[str]) -> bool:
    """Whether the link in folder ``made`` leads to something that will be gone."""
    from pegasus_bb.core.paths import is_below

    text = os.readlink(link)
    folder, name = os.path.split(os.path.join(os.path.dirname(link), text))
    target = os.path.normpath(os.path.join(os.path.realpath(folder), name))
    stays = not os.path.isabs(text) and is_below(target, os.path.realpath(made))
    leads_there = any(is_below(target, os.path.realpath(each)) for each in going)
    return leads_there and not stays and os.path.exists(link)


def _copy_back(made: str, dest: str, going: Sequence[str], *, is_read: bool) -> None:
    from pegasus_bb.runtime.staging.folder_lfns import copy_path

    copy_path(made, dest, digest=False, replace=True, vanishing=going)
    mode = os.lstat(dest).st_mode
    if is_read and stat.S_ISREG(mode):  # later, it would disturb a stage-out
        close_to_writing(dest, mode)


def _discard(folder: str) -> None:
    """Remove a private folder. One that stays costs space only."""
    from pegasus_bb.core.removal import remove

    try:
        remove(folder)
    except (PegasusBBError, OSError) as error:
        tell(f"{folder} was not removed: {error}")
