"""Starts one program, forwards signals to it, waits, and measures its resources.

pegasus_bb.core.process is not used: importing subprocess costs every job 10 ms, and the
counters must be read after the program's end and before it is reaped.
"""

from __future__ import annotations

import fcntl
import os
import resource  # noqa: F401 - os.wait4 would load it between two counter readings

from pegasus_bb.core.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any
else:  # what signal wraps into enums, which take 4 ms to import
    import _signal as signal

FORWARDED = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python; a program has the default

# Set in a process whose parent ends its whole group if it is killed: the fork server.
group_is_guarded = False


def _tell_no_one(number: int) -> None:
    """Let a signal be that is forwarded."""


# stop_signals.py sets both for a job whose files are saved if a signal ends it.
also_forwarded: tuple[int, ...] = ()
told: Callable[[int], None] = _tell_no_one


class Counters(NamedTuple):
    """/proc/PID/io of a process, which includes its reaped descendants."""

    rchar: int = 0  # bytes asked of read(), the page cache and pipes included
    wchar: int = 0
    syscr: int = 0  # calls
    syscw: int = 0
    read_bytes: int = 0  # bytes that came from storage
    write_bytes: int = 0
    cancelled_write_bytes: int = 0

    def __sub__(self, other: object) -> Counters:
        """The difference, never below zero: reading the counters changes them."""
        if not isinstance(other, Counters):
            return NotImplemented
        return Counters(*(max(0, a - b) for a, b in zip(self, other)))


class Ended(NamedTuple):
    """How a program ended, and its resources with those of reaped descendants."""

    pid: int
    raw: int  # the status of wait()
    usage: Any  # resource.struct_rusage
    io: Counters | None  # None if the kernel does not count
    iowait: float | None  # seconds of its main thread; None if not measured

    @property
    def status(self) -> int:
        if os.WIFSIGNALED(self.raw):
            return 128 + os.WTERMSIG(self.raw)
        return os.WEXITSTATUS(self.raw)


class ProgramNotStarted(Exception):
    """The program was not started; ``status`` is 127 (not there) or 126."""

    def __init__(self, program: str, error: OSError) -> None:
        absent = isinstance(error, (FileNotFoundError, NotADirectoryError))
        self.status = 127 if absent else 126
        super().__init__(f"{program}: cannot be started: {why_not(program, error)}")


def why_not(program: str, error: Exception) -> str:
    """Why ``program`` was not started. Of a script whose interpreter is missing Linux
    says that the script itself is."""
    from pegasus_bb.core.files import missing_interpreter  # few programs are

    interpreter = missing_interpreter(program)
    if interpreter:
        return f"its first line names {interpreter!r}, which is not there"
    return getattr(error, "strerror", None) or str(error)


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """The program file of ``name``, searched on PATH if it has no slash.

    Raises ProgramNotStarted.
    """
    if "/" in name:
        tries = [name]
    else:
        path = environ.get("PATH") or os.defpath
        tries = [os.path.join(folder or ".", name) for folder in path.split(":")]
    reason: OSError = FileNotFoundError(2, os.strerror(2))
    for path in tries:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        if os.path.lexists(path):
            reason = PermissionError(13, "not an executable file")
    raise ProgramNotStarted(name, reason)


class RunningProgram:
    """A running program: start it once, then wait for it once."""

    _may_spawn = True  # nothing of ours runs between fork and exec

    def __init__(
        self,
        program: str,
        argv: Sequence[str],
        environ: Mapping[str, str],
        streams: Sequence[int] = (0, 1, 2),
    ) -> None:
        """Start ``argv`` as ``program`` with ``streams`` as its 0, 1 and 2.

        Raises ProgramNotStarted.
        """
        self._program = program
        self._argv = list(argv)
        self._environ = environ
        self._shares_group = os.getpgrp() == os.getpid()
        self._pending: list[int] = []
        self.pid = 0
        spawns = self._may_spawn and self._shares_group and group_is_guarded
        # Loaded before the fork, and only once: the child must not read files.
        self._die_with_us = None if spawns else parent_death_signal()
        start = self._spawn if spawns else self._start
        self._before = set_handlers((*FORWARDED, *also_forwarded), self._forward)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            self.pid = start(streams)
            # Not earlier: Python 3.12 reads /proc while it forks. Later is fine: the
            # counters of the child are added only when it is reaped.
            self._io, self._own_read = own_counters()
        except BaseException:
            restore_handlers(self._before)
            raise
        while self._pending:
            self._send(self._pending.pop(0))

    def limit(self, seconds: int, grace: int) -> None:
        """SIGTERM after ``seconds``, SIGKILL after ``grace`` more; 0: never."""
        if not seconds:
            return

        def hard(number: int, frame: object) -> None:
            os.kill(self.pid, signal.SIGKILL)

        def soft(number: int, frame: object) -> None:
            signal.signal(signal.SIGALRM, hard)
            signal.alarm(grace)
            self._send(signal.SIGTERM)

        signal.signal(signal.SIGALRM, soft)
        signal.alarm(seconds)

    def wait(self) -> Ended:
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        signal.alarm(0)
        waited, stat_read = iowait_of(self.pid)
        pid, raw, usage = os.wait4(self.pid, 0)
        self.pid = 0
        counters = None
        if self._io is not None:
            now, _ = own_counters()
            # Subtract our own reads meanwhile: two files.
            mine = Counters(rchar=self._own_read + stat_read, syscr=2)
            counters = now - self._io - mine if now is not None else None
        restore_handlers(self._before)
        return Ended(pid, raw, usage, counters, waited)

    def _spawn(self, streams: Sequence[int]) -> int:
        """As ``_start``, without a copy of this process, which takes 2 ms."""
        # Above 2 first, so that no dup2 overwrites a stream that is still needed.
        held = [fcntl.fcntl(stream, fcntl.F_DUPFD_CLOEXEC, 3) for stream in streams]
        actions = [(os.POSIX_SPAWN_DUP2, held[n], n) for n in range(len(held))]
        defaults = (*FORWARDED, *also_forwarded, *IGNORED)
        try:
            return os.posix_spawn(
                self._program,
                self._argv,
                self._environ,
                file_actions=actions,
                setsigdef=defaults,
            )
        except OSError as error:
            raise ProgramNotStarted(self._program, error) from error
        finally:
            for handle in held:
                os.close(handle)

    def _start(self, streams: Sequence[int]) -> int:
        failure, report = os.pipe()  # closed by a successful exec
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._enter(streams, parent)
                self._become(report)
            except OSError as error:
                os.write(report, str(error.errno or 1).encode())
            finally:
                os._exit(127)
        os.close(report)
        try:
            code = os.read(failure, 16)
        finally:
            os.close(failure)
        if code:
            os.waitpid(pid, 0)
            number = int(code)
            reason = OSError(number, os.strerror(number))
            raise ProgramNotStarted(self._program, reason)
        return pid

    def _enter(self, streams: Sequence[int], parent: int) -> None:
        if not self._shares_group:
            os.setpgid(0, 0)
        if self._die_with_us is not None:
            self._die_with_us(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
            if os.getppid() != parent:
                os._exit(137)
        for caught in (*FORWARDED, *also_forwarded, *IGNORED):
            signal.signal(caught, signal.SIG_DFL)
        # Above 2 first, so that no dup2 overwrites a stream that is still needed.
        held = [os.dup(stream) for stream in streams]
        for number, stream in enumerate(held):
            os.dup2(stream, number)
            os.close(stream)

    def _become(self, report: int) -> None:
        """Be the program. ``report`` takes the error, and is closed by a start."""
        environ = dict(self._environ)
        os.execve(self._program, self._argv, environ)  # noqa: S606 - no shell, on purpose

    def _forward(self, number: int, frame: object) -> None:
        told(number)
        if self.pid:
            self._send(number)
        else:
            self._pending.append(number)

    def _send(self, number: int) -> None:
        try:
            if self._shares_group:
                signal.signal(number, signal.SIG_IGN)  # our own copy of it
                os.killpg(os.getpgrp(), number)
                signal.signal(number, self._forward)
            else:
                os.killpg(self.pid, number)
        except ProcessLookupError:
            pass


def set_handlers(numbers: Sequence[int], handler: Any) -> dict[int, Any]:
    """Let ``handler`` handle the signals ``numbers``; what has done so before."""
    return {number: signal.signal(number, handler) for number in numbers}


def restore_handlers(before: Mapping[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def run(program: str, argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run ``argv`` with our own streams; returns its exit status.

    Raises ProgramNotStarted.
    """
    return RunningProgram(find_program(program, environ), argv, environ).wait().status


def parent_death_signal() -> Any:
    """prctl(), with which the kernel kills the program if the recorder is killed."""
    try:  # the half of ctypes that is written in C: all of it takes 5 ms to import
        import _ctypes

        here: Any = None  # not a path: this process
        address = _ctypes.dlsym(_ctypes.dlopen(here, 0), "prctl")
    except (ImportError, OSError):
        return None
    kinds = {"_flags_": _ctypes.FUNCFLAG_CDECL}
    return type("prctl", (_ctypes.CFuncPtr,), kinds)(address)


def own_counters() -> tuple[Counters | None, int]:
    """This process's counters, and the bytes that were read to get them.

    None if the kernel does not count, which is not the same as zero.
    """
    data = read_small("/proc/self/io")
    numbers = {}
    for line in data.decode().splitlines():
        name, _, number = line.partition(":")
        numbers[name] = int(number)
    known = {name: numbers[name] for name in Counters._fields if name in numbers}
    complete = len(known) == len(Counters._fields)
    return (Counters(**known) if complete else None), len(data)


def iowait_of(pid: int) -> tuple[float | None, int]:
    """Seconds that the ended, not yet reaped ``pid`` waited for block I/O; bytes read.

    None if the kernel does not measure it: without task_delayacct the field is 0.
    """
    data = read_small(f"/proc/{pid}/stat")
    try:
        # The name in brackets may contain blanks and brackets.
        ticks = int(data[data.rindex(b")") + 2 :].split()[39])  # field 42
    except (ValueError, IndexError):
        return None, len(data)
    if not ticks and not _ACCOUNTED:
        return None, len(data)
    return ticks / os.sysconf("SC_CLK_TCK"), len(data)


def read_small(path: str) -> bytes:
    """Up to 16 KiB of ``path`` in one call; nothing if it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(handle, 16384)
    except OSError:
        return b""
    finally:
        os.close(handle)


# Linux before 5.14 has no such switch; there only a number above 0 is meaningful.
_ACCOUNTED = read_small("/proc/sys/kernel/task_delayacct").strip() == b"1"
