"""The folder where burst_buffer.lua and the service meet: files and FIFOs.

A request is ``key=value`` lines, an empty line, and the directives.
The Lua code runs as SlurmUser and waits for nothing but a bell; the head of
templates/slurm/burst_buffer.lua says what lies where.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Container, Iterator
from typing import NamedTuple

from pegasus_bb.core.files import read_text, unlink_if_there
from pegasus_bb.stager.messages import complain
from pegasus_bb.stager.ownership import locked

HOOKS = ("data_in", "pre_run", "data_out", "teardown")
STATUS = "status"
_WHOLE = re.compile("[0-9]{1,18}", re.ASCII)
BELLS = 64
_DAY = 86400.0
_LOST = 600.0  # seconds after which a bell that scontrol took comes back
_FOLDERS = ("requests", "answers", "bells", "jobs")


class HookRequest(NamedTuple):
    """What a hook or a scontrol asks. ``fields``: what the hook knows; ``words``: those
    of scontrol."""

    token: str
    do: str
    uid: int
    gid: int
    fields: dict[str, str]
    words: list[str]
    directives: list[str]  # lines; none where the hook was not given them

    @property
    def job(self) -> int:
        """The job's id; 0 in a question."""
        return self.number("job") or 0

    @property
    def noted_at(self) -> float:
        """When the hook asked: its note begins with the time (burst_buffer.lua)."""
        head = self.token.partition(".")[0]
        return float(head) if _WHOLE.fullmatch(head) else time.time()

    def number(self, key: str) -> int | None:
        """Return the whole number of a field; None where Slurm did not know it."""
        text = self.fields.get(key, "").partition(".")[0]
        return int(text) if _WHOLE.fullmatch(text) else None


def parse_request(token: str, text: str) -> HookRequest:
    """Return the request in ``text``. Raises ValueError where burst_buffer.lua did not
    write it."""
    head, _, body = text.partition("\n\n")
    fields: dict[str, str] = {}
    words: list[str] = []
    for line in head.split("\n"):
        key, sign, value = line.partition("=")
        if not sign:
            raise ValueError(f"{token}: no key=value: {line[:80]!r}")
        if key == "arg":
            words.append(value)
        else:
            fields[key] = value
    do = fields.get("do", "")
    if do not in (*HOOKS, STATUS):
        raise ValueError(f"{token}: do {do!r} is no hook")
    # int() takes more than hooks write: signs, blanks, digits of other alphabets.
    for key in ("uid", "gid") if do == STATUS else ("uid", "gid", "job"):
        if _WHOLE.fullmatch(fields.get(key, "")) is None:
            raise ValueError(f"{fields.get(key, '')[:80]!r} is no whole number")
    lines = [line for line in body.replace("\0", "").split("\n") if line]
    numbers = (int(fields["uid"]), int(fields["gid"]))
    return HookRequest(token, do, *numbers, fields, words, lines)


class Spool:
    """``folder`` belongs to ``uid``, SlurmUser, and no other user can look into it."""

    def __init__(self, folder: str, uid: int) -> None:
        """Makes what is missing. Raises OSError."""
        self._folder, self._uid = folder, uid
        for name in ("", *_FOLDERS):
            path = self._path(name)
            os.makedirs(path, exist_ok=True)
            os.chmod(path, 0o700)
            self._own(path)
        # Of two services that read one spool each would know half of all jobs.
        self._lock = locked(folder, "spool")
        for number in range(BELLS):
            taken, free = (self._bell(number, state) for state in ("taken", "free"))
            if not os.path.exists(taken):
                self._fifo(free)
        self._fifo(self._path("doorbell"))
        self.doorbell = os.open(self._path("doorbell"), os.O_RDWR | os.O_NONBLOCK)

    def requests(self) -> Iterator[HookRequest]:
        """Yield what was asked, oldest first; remove what no Lua code of ours wrote."""
        self._silence()
        for token in sorted(os.listdir(self._path("requests"))):
            if token.endswith(".new"):
                continue
            try:
                text = read_text(self._path("requests", token))
                request = parse_request(token, text)
            except OSError:
                continue  # it stays for the next look
            except ValueError as error:
                complain(f"not by burst_buffer.lua: {error}")
                with contextlib.suppress(OSError):  # a folder stays, and is passed over
                    self.forget(token)
                continue
            yield request

    def noted_jobs(self) -> set[int]:
        """Return the jobs of requests that are not done yet. Raises OSError."""
        parts = (t.split(".") for t in os.listdir(self._path("requests")))
        return {int(part[2]) for part in parts if len(part) > 3 and part[2].isdigit()}

    def forget(self, token: str) -> None:
        """Remove a request, which is done."""
        unlink_if_there(self._path("requests", token))

    def answer(self, request: HookRequest, text: str) -> None:
        """Give ``text`` to the scontrol that waits for it."""
        self._write(self._path("answers", request.token), text)
        self.forget(request.token)
        if not _ring(self._bell(request.number("bell") or 0, "taken")):
            unlink_if_there(self._path("answers", request.token))  # scontrol has gone

    def answer_job(self, job: int, token: str, text: str) -> None:
        """Give ``text`` to that pre_run: empty lets the job start."""
        answer = self._path("answers", token)
        self._write(answer, text)
        if not _ring(self._path("jobs", f"{job}.bell")):
            unlink_if_there(answer)  # Slurm has ended it

    def report_job(
        self, job: int, fields: dict[str, str], environ: dict[str, str]
    ) -> None:
        """Write what the hooks shall know of ``job``. Make what ends its pre_run, if
        that waits for data on its nodes."""
        if "BB_NODE" in environ:
            self._fifo(self._path("jobs", f"{job}.bell"))
        lines = [f"{key}={value}" for key, value in fields.items()]
        lines += [f"env={key}={value}" for key, value in environ.items()]
        plain = (re.sub("[\n\0]", " ", line) for line in lines)
        self._write(self._path("jobs", str(job)), "".join(f"{p}\n" for p in plain))

    def known_jobs(self) -> list[int]:
        """Return the jobs of which the hooks know something."""
        return [int(name) for name in os.listdir(self._path("jobs")) if name.isdigit()]

    def acknowledge(self, job: int) -> None:
        """The hooks' latest wish for ``job`` is known: let its state count again."""
        unlink_if_there(self._path("jobs", f"{job}.asked"))

    def forget_old_jobs(self, known: Container[int]) -> None:
        """Forget jobs that have not changed for a day, but those in ``known``."""
        for job in self.known_jobs():
            path = self._path("jobs", str(job))
            if job not in known and time.time() - _changed(path) > _DAY:
                self.forget_job(job)

    def forget_job(self, job: int) -> None:
        """Remove what the hooks know of ``job``."""
        unlink_if_there(self._path("jobs", str(job)))
        unlink_if_there(self._path("jobs", f"{job}.bell"))

    def report_pools(self, text: str) -> None:
        """Write the text that slurm_bb_pools returns."""
        self._write(self._path("pools"), text)

    def beat(self) -> None:
        """Say that the service is alive, and take back bells that were lost."""
        self._write(self._path("alive"), f"{int(time.time())}\n")
        for number in range(BELLS):
            taken = self._bell(number, "taken")
            if time.time() - _changed(taken) > _LOST:
                unlink_if_there(taken)
                self._fifo(self._bell(number, "free"))

    def end(self) -> None:
        """Let the hooks know at once that the service is away."""
        unlink_if_there(self._path("alive"))
        os.close(self.doorbell)
        os.close(self._lock)

    def _silence(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.doorbell, 4096):
                pass

    def _path(self, *names: str) -> str:
        return os.path.join(self._folder, *names)

    def _bell(self, number: int, state: str) -> str:
        return self._path("bells", f"{number}.{state}")

    def _fifo(self, path: str) -> None:
        try:
            os.mkfifo(path, 0o600)
        except FileExistsError:
            if not stat.S_ISFIFO(os.lstat(path).st_mode):
                raise
        self._own(path)

    def _own(self, path: str) -> None:
        if os.getuid() != self._uid:
            os.chown(path, self._uid, -1, follow_symlinks=False)

    def _write(self, path: str, text: str) -> None:
        """Whole or not at all; the next start of the service writes it anew."""
        part = path + ".new"
        try:
            with open(part, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            self._own(part)
            os.replace(part, path)
        except OSError as error:
            error.filename = path  # a write names none
            raise


def _ring(bell: str) -> bool:
    """Whether anyone waits for it."""
    try:
        fifo = os.open(bell, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # scontrol has gone
        return False
    try:
        os.write(fifo, b"ok\n")
    finally:
        os.close(fifo)
    return True


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_ctime
    except FileNotFoundError:
        return time.time()
