"""As little of ptrace and seccomp as it takes to stop a program before a system call.

A seccomp filter lets the kernel stop the program at the calls that are asked for and at
no other: all else runs at full speed. Every request comes from the thread that started
the program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, NoReturn

_TRACEME = 0
_CONT = 7
_SETOPTIONS = 0x4200
_GET_SYSCALL_INFO = 0x420E
_POKEUSER = 6
# where x86_64 has them in struct user
_RAX = 80
_ORIG_RAX = 120
_FORK = 0x2
_VFORK = 0x4
_CLONE = 0x8
_EXEC = 0x10
_SECCOMP = 0x80
_EXITKILL = 0x100000  # should the tests themselves be killed, nothing stays behind
_OPTIONS = _FORK | _VFORK | _CLONE | _EXEC | _SECCOMP | _EXITKILL
_EVENT_SECCOMP = 7
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_FILTER = 2
_RET_TRACE = 0x7FF00000
_RET_ALLOW = 0x7FFF0000
_RET_ERRNO = 0x50000
# of the filter's machine
_LOAD = 0x20
_EQUAL = 0x15
_RETURN = 0x06
_WALL = 0x40000000
_OF_THIS_THREAD = 0x20000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


class NotPermitted(Exception):
    """This machine allows no tracing, or its kernel is too old."""


class Stop(NamedTuple):
    """Why a thread stands still, or that it ended."""

    pid: int
    status: int  # as wait gives it

    @property
    def ended(self) -> bool:
        return os.WIFEXITED(self.status) or os.WIFSIGNALED(self.status)

    @property
    def is_call(self) -> bool:
        return self.status >> 16 == _EVENT_SECCOMP

    @property
    def to_deliver(self) -> int:
        """The signal that it stopped for, if one did; 0 for what ptrace itself does."""
        number = os.WSTOPSIG(self.status)
        ours = self.status >> 16 or number in (signal.SIGTRAP, signal.SIGSTOP)
        return 0 if ours else number


def _ptrace(request: int, pid: int, addr: int = 0, data: int | None = 0) -> int:
    done = int(_libc.ptrace(request, pid, addr, data))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def start(
    argv: Sequence[str],
    environ: Mapping[str, str],
    cwd: str,
    streams: Sequence[int],
    numbers: Collection[int],
) -> int:
    """Start ``argv`` so that it stops before each call of ``numbers``; its pid.

    ``streams`` become its 0, 1 and 2. Raises NotPermitted.
    """
    program = _filter(numbers)
    argv = list(argv)
    environ = dict(environ)
    pid = os.fork()
    if pid == 0:
        _become(argv, environ, cwd, streams, program)
    _, status = os.waitpid(pid, _WALL)
    if not os.WIFSTOPPED(status):
        raise NotPermitted(f"no program may be traced here ({status})")
    _ptrace(_SETOPTIONS, pid, 0, _OPTIONS)
    resume(pid)
    return pid


def _become(
    argv: list[str],
    environ: dict[str, str],
    cwd: str,
    streams: Sequence[int],
    program: ctypes.Array[ctypes.c_char],
) -> NoReturn:
    try:
        for number, handle in enumerate(streams):
            os.dup2(handle, number)
        os.chdir(cwd)
        _ptrace(_TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)  # until our tracer listens
        pointer = ctypes.addressof(program)
        if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            _libc.prctl(_PR_SET_SECCOMP, _FILTER, pointer, 0, 0)
        os.execve(argv[0], argv, environ)  # noqa: S606
    finally:
        os._exit(126)


def refuse_all(numbers: Collection[int], error: int) -> None:
    """From now on the calls ``numbers`` of this process end with ``error``."""
    program = _filter(numbers, _RET_ERRNO | error)
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(program), 0, 0) != 0:
        raise NotPermitted("no system call can be refused here")


def _filter(
    numbers: Collection[int], action: int = _RET_TRACE
) -> ctypes.Array[ctypes.c_char]:
    """struct sock_fprog with its program behind it: ``action`` for ``numbers``, allow
    all else.

    The numbers are those of this machine's own calls; nothing here is a barrier.
    """
    wanted = sorted(numbers)
    lines = [(_LOAD, 0, 0, 0)]  # the number of the call
    for n, number in enumerate(wanted):
        lines.append((_EQUAL, len(wanted) - n, 0, number))
    lines += [(_RETURN, 0, 0, _RET_ALLOW), (_RETURN, 0, 0, action)]
    code = b"".join(struct.pack("HBBI", *line) for line in lines)
    head = struct.calcsize("HxxxxxxP")
    whole = ctypes.create_string_buffer(head + len(code))
    behind = ctypes.addressof(whole) + head
    whole.raw = struct.pack("HxxxxxxP", len(lines), behind) + code
    return whole


def wait() -> Stop | None:
    """What happens next in any of the programs that this thread traces; None: no more.

    No other child of the tests is waited for: theirs belong to other threads.
    """
    try:
        return Stop(*os.waitpid(-1, _WALL | _OF_THIS_THREAD))
    except ChildProcessError:
        return None


def resume(pid: int, number: int = 0) -> None:
    """Let a thread run until its next stop, with signal ``number`` if any."""
    try:
        _ptrace(_CONT, pid, 0, number)
    except ProcessLookupError:  # killed meanwhile: its end will be told
        pass


def call_of(pid: int) -> tuple[int, list[int]] | None:
    """Number and arguments of the call that ``pid`` is about to make.

    None where it was killed meanwhile. Raises NotPermitted by an old kernel.
    """
    info = ctypes.create_string_buffer(88)
    try:
        _ptrace(_GET_SYSCALL_INFO, pid, len(info), ctypes.addressof(info))
    except ProcessLookupError:
        return None
    except OSError as error:
        raise NotPermitted("this kernel is older than Linux 5.3") from error
    number, *args = struct.unpack_from("Q6Q", info.raw, 24)
    return number, args


def refuse(pid: int, number: int) -> None:
    """Let the kernel answer the call that ``pid`` is about to make with an errno."""
    _ptrace(_POKEUSER, pid, _RAX, -number)
    _ptrace(_POKEUSER, pid, _ORIG_RAX, -1)


def text_at(pid: int, address: int) -> str:
    """The text at ``address`` of the program, up to its NUL."""
    found = b""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        while b"\0" not in found:
            room = 4096 - (address + len(found)) % 4096  # never across a page
            found += os.pread(memory.fileno(), room, address + len(found))
    return os.fsdecode(found.partition(b"\0")[0])
