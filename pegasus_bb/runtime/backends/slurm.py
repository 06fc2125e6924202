"""Calls Slurm's commands; scontrol.py and squeue.py parse their output."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping

from pegasus_bb.core.errors import (
    PegasusBBError,
    ReservationFailed,
    SchedulerUnreachable,
    UsageError,
)
from pegasus_bb.core.process import REQUIRED, Finished, ask
from pegasus_bb.model.backends import DATAWARP
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.runtime.backends.scontrol import (
    Plugin,
    SpaceJob,
    parse_burst,
    parse_jobs,
)
from pegasus_bb.runtime.backends.squeue import FORMAT, parse_queue

# Messages of the client programs while slurmctld does not answer: a retry may help.
_NO_ANSWER = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused"
    r"|Connection timed out|Zero Bytes were transmitted|gave no answer within"
    r"|Slurm (?:temporarily|backup controller)|Resource temporarily unavailable"
    r"|Communication connection failure",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
PERSISTENT = "EnablePersistent"
STAGES_OUT = "STAGE_OUT"  # state of an ended job
STAGE_OUT_FAILED = "data_out:"  # in Slurm's reason for the failure
_DISABLED = (
    f"`scontrol show burst` shows no Flags={PERSISTENT}, so Slurm makes persistent "
    "buffers for its operators alone. An administrator has to write "
    f"Flags={PERSISTENT} into burst_buffer.conf, then say `scontrol reconfigure`"
)
_NAMES = 2000  # per call: an argument has at most 128 KiB
_OPTIONS = ("account", "partition", "qos")


def create_line(request: Request) -> str:
    """The directive that creates a persistent buffer; every value is checked.

    Bytes are whole numbers: Slurm silently reads ``3.5TB`` as three bytes.
    """
    parts = [
        "#BB create_persistent",
        f"name={check_reservation_name(request.name)}",
        f"capacity={int(request.capacity)}",
        f"access_mode={_plain('access', request.access)}",
        "type=scratch",
    ]
    if request.pool:
        parts.append(f"pool={_plain('pool', request.pool)}")
    return " ".join(parts)


def destroy_line(request: Request) -> str:
    """The directive that destroys a persistent buffer, without ``hurry``."""
    return f"#BB destroy_persistent name={check_reservation_name(request.name)}"


def _plain(key: str, value: str) -> str:
    if _PLAIN.fullmatch(value) is None or "hurry" in value:
        raise UsageError(
            f"{key} {value!r} cannot stand in a #BB line: letters, digits, _ . - only"
        )
    return value


class Slurm:
    """The four programs that the datawarp backend calls."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises UsageError if an option of the tier is invalid."""
        given = {key: settings[key] for key in _OPTIONS if settings.get(key)}
        self.options = [f"--{key}={_plain(key, given[key])}" for key in given]

    def plugin(self) -> Plugin:
        """The plugin in `scontrol show burst`.

        Raises SchedulerUnreachable; ReservationFailed if there is no plugin.
        """
        answer = _ask(["scontrol", "show", "burst"])
        if answer.status != 0:
            raise SchedulerUnreachable(_failure_message(answer, "scontrol show burst"))
        plugins = parse_burst(answer.out)
        if not plugins:
            raise ReservationFailed(
                "this Slurm has no burst buffer: `scontrol show burst` answers with "
                "nothing. BurstBufferType=burst_buffer/datawarp (or /lua) is missing "
                "from slurm.conf, or this is the wrong cluster"
            )
        if "TotalSpace" not in plugins[0].header or not answer.out.endswith("\n"):
            raise SchedulerUnreachable(
                f"scontrol show burst: the answer is cut: {answer.out[-60:]!r}"
            )
        named = [plugin for plugin in plugins if plugin.name == DATAWARP.name]
        return (named or plugins)[0]

    def jobs(self, *names: str) -> list[SpaceJob]:
        """All jobs of these names, of any user, that Slurm remembers, oldest first."""
        jobs: list[SpaceJob] = []
        for i in range(0, len(names), _NAMES):
            batch = ",".join(names[i : i + _NAMES])
            jobs += self._queue("--states=all", f"--name={batch}")
        return jobs

    def staging_out(self) -> list[SpaceJob]:
        """Ended jobs of this user whose results are not staged out yet."""
        return self._queue(f"--states={STAGES_OUT}", f"--user={os.getuid()}")

    def waiting(self) -> list[SpaceJob]:
        """Jobs of this user that have not begun."""
        return self._queue("--states=PENDING", f"--user={os.getuid()}")

    def waiting_for_buffers(self) -> list[SpaceJob]:
        """Jobs of any user that have not begun, and ask for burst buffer."""
        pending = self._queue("--states=PENDING")
        return [job for job in pending if job.fields["BurstBufferState"]]

    def _queue(self, *which: str) -> list[SpaceJob]:
        answer = _ask(["squeue", "--noheader", *which, f"--Format={FORMAT}"])
        if answer.status != 0:
            raise SchedulerUnreachable(_failure_message(answer, "squeue"))
        try:
            return parse_queue(answer.out)
        except ValueError:
            output = " ".join(answer.out.split())[:200]
            raise SchedulerUnreachable(
                f"squeue answers with something else than was asked for: {output!r}"
            ) from None

    def job(self, number: str) -> SpaceJob | None:
        answer = _ask(["scontrol", "show", "job", number])
        if "Invalid job id" in answer.err:
            return None
        if answer.status != 0:
            raise SchedulerUnreachable(
                _failure_message(answer, f"scontrol show job {number}")
            )
        return next(iter(parse_jobs(answer.out)), None)

    def submit(self, name: str, comment: str, line: str) -> str:
        """Submit a job without nodes and with directive ``line``; return its id.

        Slurm acts on the directive and ends the job without running its script.
        Raises SchedulerUnreachable, ReservationFailed with sbatch's message.
        """
        _plain("run's uuid", comment)
        with tempfile.TemporaryDirectory(prefix="pegasus-bb-") as folder:
            path = os.path.join(folder, "directives")
            with open(path, "w", encoding="ascii") as out:
                out.write(line + "\n")
            argv = ["sbatch", "--parsable", "-N0", f"--job-name={name}"]
            argv += [f"--comment={comment}", "--output=/dev/null", *self.options]
            answer = _ask([*argv, f"--bbf={path}", "--wrap=true"])
        number = answer.out.strip().split(";")[0]
        if answer.status == 0 and number.isdigit():
            return number
        message = _failure_message(answer, "sbatch")
        if _NO_ANSWER.search(message):
            raise SchedulerUnreachable(message)
        raise ReservationFailed(f"{message}{self._advice(message)}{self._defaults()}")

    def _defaults(self) -> str:
        """The defaults for sbatch in the environment that took part in a refusal."""
        given = [option[2:].partition("=")[0] for option in self.options]
        keys = [
            key
            for key in REQUIRED
            if os.environ.get(key) and key[7:].lower() not in given
        ]
        if not keys:
            return ""
        shown = " and ".join(f"{key}={os.environ[key]}" for key in keys)
        return (
            f"; sbatch was given {shown} by the environment: unset that, or name "
            f"{', '.join(key[7:].lower() for key in keys)} in the tier"
        )

    def _advice(self, message: str) -> str:
        if "root can not allocate" in message:
            return "; run as an ordinary user"
        if "Burst Buffer" in message and self._for_operators_only(message):
            return f"; {_DISABLED}"
        return ""

    def _for_operators_only(self, message: str) -> bool:
        """Versions of Slurm differ in the message, but not in the flags."""
        if "permission denied" in message:
            return True
        try:
            return PERSISTENT not in self.plugin().flags
        except PegasusBBError:
            return False

    def cancel(self, number: str, *options: str) -> None:
        """Cancel a job, which may have ended.

        ``--hurry`` discards results that are not staged out; the space is freed later.
        Raises SchedulerUnreachable.
        """
        argv = ["scancel", *options, number]
        answer = _ask(argv)
        if answer.status != 0 and "Invalid job id" not in answer.err:
            raise SchedulerUnreachable(_failure_message(answer, " ".join(argv)))


def _ask(argv: list[str]) -> Finished:
    answer = ask(argv, timeout=60.0)
    if answer.status == 127:
        raise ReservationFailed(
            f"{answer.err.strip()}: no Slurm on this machine's PATH"
        )
    return answer


def _failure_message(answer: Finished, program: str) -> str:
    output = answer.one_line
    return f"{program}: {output or f'exit status {answer.status} without a word'}"
