"""Slurm's commands as questions and answers; scontrol.py and squeue.py read them."""

from __future__ import annotations

import os
import re
import tempfile
from typing import List, Mapping, Optional

from pegasus_bb.errors import (
    PegasusBBError,
    ReservationFailed,
    SchedulerUnreachable,
    UsageError,
)
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.process import Finished, ask
from pegasus_bb.reservation.scontrol import Job, Plugin, parse_burst, parse_jobs
from pegasus_bb.reservation.squeue import FORMAT, parse_queue

# What the client programs say when slurmctld does not answer: asking again may help.
_NO_ANSWER = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection refused"
    r"|Connection timed out|Zero Bytes were transmitted|gave no answer within"
    r"|Slurm (?:temporarily|backup controller)|Resource temporarily unavailable"
    r"|Communication connection failure",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
PERSISTENT = "EnablePersistent"
STAGES_OUT = "STAGE_OUT"  # of a job that has ended
STAGE_OUT_FAILED = "data_out:"  # in Slurm's words for why it is not over
_DISABLED = (
    f"`scontrol show burst` shows no Flags={PERSISTENT}, so Slurm makes persistent "
    "buffers for its operators alone. An administrator has to write "
    f"Flags={PERSISTENT} into burst_buffer.conf, then say `scontrol reconfigure`"
)
_NAMES = 2000  # in one question: a word of a command line has 128 KiB
_OPTIONS = ("account", "partition", "qos")


def create_line(request: Request) -> str:
    """The directive that asks for a persistent buffer; every value was checked.

    Bytes are whole numbers: Slurm reads ``3.5TB`` as three bytes, without a word.
    """
    words = [
        "#BB create_persistent",
        f"name={check_reservation_name(request.name)}",
        f"capacity={int(request.capacity)}",
        f"access_mode={_plain('access', request.access)}",
        "type=scratch",
    ]
    if request.pool:
        words.append(f"pool={_plain('pool', request.pool)}")
    return " ".join(words)


def destroy_line(request: Request) -> str:
    """The directive that gives a persistent buffer back; never in a hurry."""
    return f"#BB destroy_persistent name={check_reservation_name(request.name)}"


def _plain(key: str, value: str) -> str:
    if _PLAIN.fullmatch(value) is None or "hurry" in value:
        raise UsageError(
            f"{key} {value!r} cannot stand in a #BB line: letters, digits, _ . - only"
        )
    return value


class Slurm:
    """The four programs that the datawarp backend speaks with."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        """Raises UsageError where an option of the tier cannot be carried."""
        given = {key: settings[key] for key in _OPTIONS if settings.get(key)}
        self.options = [f"--{key}={_plain(key, given[key])}" for key in given]

    def plugin(self) -> Plugin:
        """What `scontrol show burst` says.

        Raises SchedulerUnreachable; ReservationFailed where no plugin serves us.
        """
        answer = _ask(["scontrol", "show", "burst"])
        if answer.status != 0:
            raise SchedulerUnreachable(_words(answer, "scontrol show burst"))
        plugins = parse_burst(answer.out)
        named = [plugin for plugin in plugins if plugin.name == "datawarp"]
        if not plugins:
            raise ReservationFailed(
                "this Slurm has no burst buffer: `scontrol show burst` answers with "
                "nothing. BurstBufferType=burst_buffer/datawarp (or /lua) is missing "
                "from slurm.conf, or this is the wrong cluster"
            )
        return (named or plugins)[0]

    def jobs(self, *names: str) -> List[Job]:
        """All jobs of those names, whose ever, that Slurm remembers, oldest first."""
        found: List[Job] = []
        for i in range(0, len(names), _NAMES):
            some = ",".join(names[i : i + _NAMES])
            found += self._queue("--states=all", f"--name={some}")
        return found

    def staging_out(self) -> List[Job]:
        """Jobs of this user that have ended, and whose results are not back."""
        return self._queue(f"--states={STAGES_OUT}", f"--user={os.getuid()}")

    def _queue(self, *which: str) -> List[Job]:
        answer = _ask(["squeue", "--noheader", *which, f"--Format={FORMAT}"])
        if answer.status != 0:
            raise SchedulerUnreachable(_words(answer, "squeue"))
        try:
            return parse_queue(answer.out)
        except ValueError:
            said = " ".join(answer.out.split())[:200]
            raise SchedulerUnreachable(
                f"squeue answers with something else than was asked for: {said!r}"
            ) from None

    def job(self, number: str) -> Optional[Job]:
        answer = _ask(["scontrol", "show", "job", number])
        if "Invalid job id" in answer.err:
            return None
        if answer.status != 0:
            raise SchedulerUnreachable(_words(answer, f"scontrol show job {number}"))
        return next(iter(parse_jobs(answer.out)), None)

    def submit(self, name: str, comment: str, line: str) -> str:
        """Submit a job of no node with that directive; its id.

        Slurm acts on the directive and ends the job without running its script.
        Raises SchedulerUnreachable, ReservationFailed with sbatch's words.
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
        words = _words(answer, "sbatch")
        if _NO_ANSWER.search(words):
            raise SchedulerUnreachable(words)
        raise ReservationFailed(f"{words}{self._advice(words)}")

    def _advice(self, words: str) -> str:
        if "root can not allocate" in words:
            return "; run as an ordinary user"
        if "Burst Buffer" in words and self._for_operators_only(words):
            return f"; {_DISABLED}"
        return ""

    def _for_operators_only(self, words: str) -> bool:
        """Slurms differ in their words for it, but not in the flags that they show."""
        if "permission denied" in words:
            return True
        try:
            return PERSISTENT not in self.plugin().flags
        except PegasusBBError:
            return False

    def cancel(self, number: str, *options: str) -> None:
        """Take a job back; one that has ended is no mistake.

        ``--hurry`` gives up what was not staged out; the space goes some time later.
        Raises SchedulerUnreachable.
        """
        argv = ["scancel", *options, number]
        answer = _ask(argv)
        if answer.status != 0 and "Invalid job id" not in answer.err:
            raise SchedulerUnreachable(_words(answer, " ".join(argv)))


def _ask(argv: List[str]) -> Finished:
    answer = ask(argv, timeout=60.0)
    if answer.status == 127:
        raise ReservationFailed(
            f"{answer.err.strip()}: no Slurm on this machine's PATH"
        )
    return answer


def _words(answer: Finished, program: str) -> str:
    said = " ".join((answer.err or answer.out).split())
    return f"{program}: {said or f'exit status {answer.status} without a word'}"
