"""The only place that starts other programs and waits for their text.

Argument lists only: no shell ever sees a name that a user gave.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

DEVNULL = -3  # subprocess.DEVNULL, without the 6 ms that importing it costs every job

# One language and one time format, so that parsers see what they were written for.
_PLAIN = {"LC_ALL": "C", "SLURM_TIME_FORMAT": "standard"}

# Slurm's commands take options from the environment: SQUEUE_PARTITION hides jobs,
# SBATCH_GPUS asks for nodes, SLURM_* of an enclosing job does both. None of it reaches
# a command, except what says which Slurm is meant, and what a site may require.
_SLURM = ("sacct", "sbatch", "scancel", "scontrol", "sinfo", "squeue")
_OPTIONS = ("SACCT_", "SBATCH_", "SCANCEL_", "SCONTROL_", "SINFO_", "SLURM_", "SQUEUE_")
_WHICH_SLURM = ("SLURM_CLUSTERS", "SLURM_CONF", "SLURM_JWT", "SLURM_SACK_SOCKET")
REQUIRED = ("SBATCH_ACCOUNT", "SBATCH_PARTITION", "SBATCH_QOS", "SBATCH_WCKEY")


class Finished(NamedTuple):
    """What a program answered: exit status and both of its texts."""

    status: int
    out: str
    err: str

    @property
    def one_line(self) -> str:
        """Its errors, else what it printed, on one line."""
        return " ".join((self.err or self.out).split())


def ask(
    argv: Sequence[str],
    timeout: float = 60.0,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
) -> Finished:
    """Run ``argv`` to its end and give back what it said.

    A program that is not there answers 127, one that outlasts ``timeout`` seconds
    (it is killed) 124; both say so in ``err``. Never raises for what a program does.
    A command of Slurm gets no options from the environment, except REQUIRED.
    """
    import subprocess

    environ = _without_options(argv[0], os.environ if env is None else env)
    environ.update(_PLAIN)
    try:
        done = subprocess.run(
            list(argv),
            input=stdin.encode(errors="surrogateescape"),
            capture_output=True,
            timeout=timeout,
            cwd=cwd,
            env=environ,
        )
    except subprocess.TimeoutExpired:
        return Finished(124, "", f"{argv[0]} gave no answer within {timeout:g} s")
    except OSError as error:
        return Finished(127, "", f"{argv[0]} cannot be started: {error.strerror}")
    return Finished(
        done.returncode,
        done.stdout.decode(errors="replace"),
        done.stderr.decode(errors="replace"),
    )


def find_pegasus_transfer(environ: Mapping[str, str]) -> str:
    """The path of a real pegasus-transfer on PATH or in PEGASUS_HOME, or nothing."""
    import shutil

    home = environ.get("PEGASUS_HOME")
    folders = [environ.get("PATH") or "", f"{home}/bin" if home else ""]
    path = os.pathsep.join(folder for folder in folders if folder)
    return shutil.which("pegasus-transfer", path=path) or ""


def _without_options(program: str, environ: Mapping[str, str]) -> dict[str, str]:
    if program.rsplit("/", 1)[-1] not in _SLURM:
        return dict(environ)
    kept = _WHICH_SLURM + REQUIRED
    return {k: v for k, v in environ.items() if k in kept or not k.startswith(_OPTIONS)}


def start(
    argv: Sequence[str],
    *,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = DEVNULL,
    stdout: int | None = None,
    stderr: int | None = None,
    new_session: bool = False,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start ``argv`` and give back the running process; the caller waits for it.

    Raises OSError where it cannot be started.
    """
    import subprocess

    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=None if env is None else dict(env),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=new_session,
        pass_fds=tuple(pass_fds),
    )
