"""Runs a task in its container; the recorder stays outside.

Every folder of the run has the same path inside the container as on the node, so paths
in arguments and links are valid inside and outside.
"""

from __future__ import annotations

import os
import re
import shutil
import stat

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import read_json
from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple
from pegasus_bb.core.refusals import keep_mode
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.bind import shared_binding
from pegasus_bb.runtime.proc import ProgramNotStarted, find_program
from pegasus_bb.runtime.records.kickstart_options import Options, parse_options

if TYPE_CHECKING:
    from typing import Any

FOLDERS = "PEGASUS_BB_FOLDERS"  # real folders on the tier; launch sets it for its job
_FILE = "containers.json"
_ARCHIVE = re.compile(r"\.(?:tgz|tar(?:\.\w+)?)$")  # as docker save writes it
_LOADED = re.compile(r"^Loaded image(?: ID|\(s\))?: *(\S+)", re.MULTILINE)
_LONGEST_LOAD = 3600.0  # seconds
# Docker containers get the job's environment without these, which describe the node.
_OF_THE_NODE = {"HOME", "HOSTNAME", "PATH", "PWD", "SHELL", "TEMP", "TMP", "TMPDIR"}


class ContainedTask(NamedTuple):
    argv: list[str]
    folder: str  # its working directory
    image: str
    mounts: list[str]  # SOURCE:TARGET, as every container's program takes it
    env: dict[str, str]  # variables of the container
    arguments: list[str]  # further ones of the container's program


def in_container(bb: BBDir, argv: list[str], environ: dict[str, str]) -> list[str]:
    """``argv`` of a recorder, with its task in a container if it has one.

    Adds to ``environ`` what the container needs. Raises UsageError, ReservationFailed,
    CannotStart.
    """
    planned = read_json(bb.file(_FILE))
    options = parse_options(argv[1:])
    container = planned["transformations"].get(options.value("transformation"))
    if container is None:
        return argv
    if container["image"].startswith("/"):
        image = _real_path(bb, container["image"], environ)
        container = {**container, "image": image}
    place = len(argv) - len(options.argv)
    task = _task(planned["folders"], container, options, environ)
    before = argv[:place]
    if options.flags.get("make executable"):  # of the task, not of the container
        before.remove("-X")
        mode = os.stat(task.argv[0]).st_mode | stat.S_IXUSR
        keep_mode(task.argv[0], mode, task.argv[0])
    return [*before, *_STARTS[container["type"]](task, environ)]


def _task(
    folders: list[str],
    container: dict[str, Any],
    options: Options,
    environ: dict[str, str],
) -> ContainedTask:
    workdir = options.value("workdir") or options.value("made workdir")
    folder = os.path.normpath(os.path.join(os.getcwd(), workdir))
    real = environ.get(FOLDERS, "").split(os.pathsep)
    temporary = environ.get("TMPDIR", "")
    wanted = [folder, *real, *folders, temporary]
    seen = [path for path in wanted if os.path.isdir(path)]
    seen += [os.path.realpath(path) for path in seen]
    mounts = [_mount(path) for path in dict.fromkeys(seen)]
    return ContainedTask(
        options.argv,
        folder,
        container["image"],
        [*mounts, *container["mounts"]],
        container["env"],
        container["arguments"],
    )


def _mount(path: str) -> str:
    if any(c in path for c in ":,;"):
        raise UsageError(
            f"{path!r} cannot be mounted in a container: it has one of the characters "
            "`:`, `,` and `;`; choose a folder without them"
        )
    return f"{path}:{path}"


def _real_path(bb: BBDir, image: str, environ: dict[str, str]) -> str:
    """The place of an image file. One that was staged is where all jobs find it, and
    not in a folder of the job's own. Raises UsageError, ReservationFailed."""
    binding = shared_binding(bb, environ)
    path = binding.text(image) if binding else image
    if not os.path.exists(path):
        raise UsageError(
            f"{path}: the image of this task's container is not on "
            f"{os.uname().nodename}; copy it to a folder that every node sees"
        )
    return path


def _apptainer(task: ContainedTask, environ: dict[str, str]) -> list[str]:
    """The working directory is also the home directory, as in Pegasus."""
    for name, value in task.env.items():
        environ[f"APPTAINERENV_{name}"] = environ[f"SINGULARITYENV_{name}"] = value
    is_archive = task.image.startswith("/") and _ARCHIVE.search(task.image)
    return [
        _apptainer_program(environ),
        "exec",
        *("--home", task.folder),
        *_each("--bind", task.mounts),
        *("--pwd", task.folder),
        *task.arguments,
        f"docker-archive:{task.image}" if is_archive else task.image,
        *task.argv,
    ]


def _docker(task: ContainedTask, environ: dict[str, str]) -> list[str]:
    """The container runs as the job's user, who then owns the files that it makes."""
    passed = sorted(environ.keys() - _of_the_node(environ) - task.env.keys())
    values = {"HOME": task.folder, **task.env}
    program = find_program("docker", environ)
    image = task.image
    return [
        program,
        *("run", "--rm", "--interactive"),
        *("--user", f"{os.getuid()}:{os.getgid()}"),
        *_each("--volume", task.mounts),
        *("--workdir", task.folder),
        *_each("--env", passed),
        *_each("--env", [f"{name}={value}" for name, value in values.items()]),
        *("--entrypoint", task.argv[0]),
        *task.arguments,
        _loaded(program, image, environ) if image.startswith("/") else image,
        *task.argv[1:],
    ]


def _of_the_node(environ: dict[str, str]) -> set[str]:
    """The variables that stay outside; not those of a tier's temporary files."""
    of_job = environ.get("PEGASUS_BB_TEMP") and {"TMPDIR", "TMP", "TEMP"}
    return _OF_THE_NODE - (of_job or set())


def _loaded(program: str, path: str, environ: dict[str, str]) -> str:
    """The name of the image in the archive ``path``, which Docker has then. Raises
    UsageError."""
    from pegasus_bb.core.process import ask  # most images are pulled

    argv = [program, "load", "--input", path]
    done = ask(argv, timeout=_LONGEST_LOAD, env=environ)
    names = _LOADED.findall(done.out)
    if done.status or not names:
        why = (done.err or done.out).strip() or "it names no image"
        raise UsageError(f"docker load --input {path} ended with {done.status}: {why}")
    return str(names[-1])


def _shifter(task: ContainedTask, environ: dict[str, str]) -> list[str]:
    return [
        find_program("shifter", environ),
        f"--image={task.image}",
        f"--volume={';'.join(task.mounts)}",
        f"--workdir={task.folder}",
        *(f"--env={name}={value}" for name, value in task.env.items()),
        *task.arguments,
        *task.argv,
    ]


_STARTS = {"singularity": _apptainer, "docker": _docker, "shifter": _shifter}


def _each(option: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _apptainer_program(environ: dict[str, str]) -> str:
    """apptainer, else singularity. Raises CannotStart."""
    try:
        return find_program("apptainer", environ)
    except ProgramNotStarted:
        if shutil.which("singularity", path=environ.get("PATH")) is None:
            raise
        return find_program("singularity", environ)
