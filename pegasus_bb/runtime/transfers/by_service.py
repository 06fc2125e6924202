"""Copies through the staging service: no node is allocated while data moves.

All files of a job list are one request. Folders, and files that are there already, are
handled as without a service.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.core.units import parse_duration
from pegasus_bb.runtime.stager_client.client import Client, NoService
from pegasus_bb.runtime.stager_client.dataspace import url_of
from pegasus_bb.runtime.stager_client.protocol import Refused, in_requests
from pegasus_bb.runtime.stager_client.task import COPY, DONE
from pegasus_bb.runtime.staging.failures import CopyFailed, on_a_line
from pegasus_bb.runtime.staging.items import Landed, stamp
from pegasus_bb.runtime.staging.onefile import digest_file
from pegasus_bb.runtime.staging.segments import Segments
from pegasus_bb.runtime.transfers.resumed_copies import Copies, CopyResult
from pegasus_bb.runtime.transfers.transfer_methods import Way

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Spec = dict[str, Any]
    T = TypeVar("T")

_LATER = ("draining", "busy")  # error codes for which a retry may help
_LONGEST_PAUSE = 5.0  # seconds between two tries to reach a service
_TOGETHER = 64  # tasks to wait for before their lines are noted


class ServiceCopies(Copies):
    """Copies with the guarantees of ``Copies``, made by the tier's ``service``."""

    def __init__(self, settings: Mapping[str, str], *arguments: Any) -> None:
        """``settings``: the keys of the tier; the other arguments are those of
        Copies."""
        super().__init__(*arguments)
        patience = parse_duration(settings.get("timeout", "15m"))
        self._service = PatientClient(settings["service"], patience)
        signal.signal(signal.SIGTERM, end_by_signal)  # so that its tasks are cancelled

    def _copy_files(
        self, ways: Sequence[Way], *, digest: bool, segments: Segments | None
    ) -> Iterator[CopyResult]:
        """Ignores ``segments``: the service paces its copies itself."""
        left: list[tuple[Way, Spec]] = []
        paced = self._drains.spec(ways) if self._drains else {}
        others = self._drains.overtake(ways) if self._drains else None
        for way in ways:
            more = paced if self._leaves(way) else {}
            try:
                left.append((way, {**self._spec(way, digest=digest), **more}))
            except (OSError, CopyFailed) as error:
                yield way, error
        while left:
            again: list[tuple[Way, Spec]] = []
            ended = self._service.ended([spec for _, spec in left], others)
            for (way, spec), task in zip(left, ended):
                result = _result_of(way, task, digest=digest)
                if result is None:
                    again.append((way, spec))
                else:
                    yield way, result
            left = again

    def _spec(self, way: Way, *, digest: bool) -> Spec:
        """Raises OSError, CopyFailed."""
        source = os.path.realpath(way.source)
        folder, name = os.path.split(way.target)
        spec = {
            "kind": COPY,
            "source": self._service.url_of(source),
            "dest": self._service.url_of(os.path.join(os.path.realpath(folder), name)),
            "size": os.stat(source).st_size,
        }
        if way.hint and self._service.takes("hint"):
            spec["hint"] = way.hint
        return {**spec, "digest": True} if digest else spec


def end_by_signal(number: int, _: object) -> None:
    """Signal handler that ends this program with an exception."""
    raise SystemExit(128 + number)


def _result_of(
    way: Way, task: Spec | None, *, digest: bool
) -> Landed | CopyFailed | None:
    """The result of ``task``; None if the service has lost it: submit it again."""
    if task is None:
        return _verified_copy(way)
    if task["state"] != DONE:
        return CopyFailed(f"staging service: {task['message']}")
    if task.get("message"):
        print(f"transfer: warning: {task['message']}", file=sys.stderr, flush=True)
    if task.get("outcome"):
        return Landed.of_note(task["outcome"])
    return _verified_copy(way) if digest else Landed(task["moved"], "", [], [])


def _verified_copy(way: Way) -> Landed | None:
    """The copy, if source and destination have the same bytes; else None."""
    try:
        source = os.stat(way.source)
        dest = os.lstat(way.target)
        digest = digest_file(way.target)
        if source.st_size != dest.st_size or digest_file(way.source, digest) != digest:
            return None
    except OSError:
        return None
    return Landed(dest.st_size, digest, stamp(dest), stamp(source))


class PatientClient:
    """A client that waits, with a message on stderr, while its service is away."""

    def __init__(self, sockets: str, patience: float) -> None:
        """``patience``: seconds without a service until that is an error."""
        self._sockets = sockets
        self._patience = patience
        self._client: Client | None = None
        self._about: Spec | None = None  # its answer to `ping`
        self._has_warned = False
        self._missing_keys: set[str] = set()  # keys with a warning

    def url_of(self, path: str) -> str:
        """The URL of ``path``, which has no links. Raises CopyFailed, NoService."""
        roots: dict[str, str] = self._ping()["roots"]
        url = url_of(path, roots)
        if not url:
            known = ", ".join(f"{name} ({at})" for name, at in roots.items())
            raise CopyFailed(
                f"{on_a_line(path)}: lies in no dataspace of the staging service "
                f"{self._sockets}, which has {known}; an administrator adds one to its "
                "configuration, or plan with a tier without `service`"
            )
        return url

    def takes(self, key: str) -> bool:
        """Whether a task of this service may have ``key``; warns once if not. Raises
        NoService."""
        known = key in self._ping().get("keys", ())
        if not known and key not in self._missing_keys:
            self._missing_keys.add(key)
            fault = f"is older and takes no {key!r}, so copies are made without it"
            print(f"transfer: the staging service {fault}", file=sys.stderr, flush=True)
        return known

    def change_rate(self, shares: str, rate: float) -> None:
        """All tasks in shares that begin with ``shares`` have ``rate`` together from
        now on; 0: no limit. An older service goes on as before. Raises NoService."""
        with contextlib.suppress(Refused):
            self._ask(lambda client: client.ask("rate", shares=shares, rate=rate))

    def _ping(self) -> Spec:
        if self._about is None:
            self._about = self._ask(lambda client: client.ask("ping"))
        return self._about

    def ended(
        self, specs: Sequence[Spec], change: tuple[str, float] | None = None
    ) -> Iterator[Spec | None]:
        """Submit ``specs``; yields each task when it has ended, in order; None if the
        service has lost it. ``change`` of rates is for them, too. Cancels all tasks if
        it is stopped. Raises Refused, NoService."""
        numbers: list[int] = []
        try:
            for request in in_requests(specs):
                self._ask(lambda c: _submit(c, request, numbers))  # noqa: B023
            if change is not None:
                self.change_rate(*change)
            for first in range(0, len(specs), _TOGETHER):
                group = numbers[first : first + _TOGETHER]
                tasks = self._ask(lambda c: _wait_for(c, group))  # noqa: B023
                for number, spec in zip(group, specs[first:]):
                    task = tasks.get(number)
                    is_ours = task is not None and _places(task) == _places(spec)
                    yield task if is_ours else None
        except BaseException:
            self._cancel(numbers)
            raise

    def _cancel(self, numbers: Sequence[int]) -> None:
        """Cancel tasks: a late copy could be made in a reservation that is released."""
        with contextlib.suppress(NoService, Refused):
            # Not self._client: it may be waiting for an answer.
            Client(self._sockets).cancel(numbers)

    def _ask(self, ask: Callable[[Client], T]) -> T:
        """The answer to ``ask``, with retries while the service is away."""
        until = 0.0
        pause = 0.1
        while True:
            try:
                if self._client is None:
                    self._client = Client(self._sockets)
                return ask(self._client)
            except (NoService, Refused) as error:
                if isinstance(error, Refused) and error.code not in _LATER:
                    raise
                self._close()
                until = until or time.monotonic() + self._patience
                if time.monotonic() >= until:
                    raise NoService(self._why(error)) from error
                self._tell(error)
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)

    def _close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = self._about = None  # the next service may have another version

    def _tell(self, error: Exception) -> None:
        if not self._has_warned:
            message = f"transfer: {error}; waiting up to {self._patience:g} s for it"
            print(message, file=sys.stderr, flush=True)
        self._has_warned = True

    def _why(self, error: Exception) -> str:
        return (
            f"{error}; no other answer in {self._patience:g} s (`timeout` of the "
            f"tier). Is it running? pegasus-bb stager --sockets {self._sockets} status"
        )


def _submit(client: Client, specs: Sequence[Spec], numbers: list[int]) -> None:
    """Submit ``specs`` and add their numbers to ``numbers``. A signal to end waits for
    the answer: without their numbers the tasks could not be cancelled."""
    with _signals_wait():
        numbers += client.submit(specs)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """SIGTERM and SIGINT take effect after the body. They are not blocked: the kernel
    would give them to another thread, and Python calls all handlers in this one."""
    came: list[int] = []

    def note(number: int, _: object) -> None:
        came.append(number)

    before = {n: signal.signal(n, note) for n in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for number in came:
            os.kill(os.getpid(), number)


def _wait_for(client: Client, numbers: Sequence[int]) -> dict[int, Spec]:
    """Wait until the tasks of ``numbers`` have ended; returns those that are known."""
    try:
        return {task["id"]: task for task in client.wait(numbers)}
    except Refused as error:
        if error.code != "no-such-task":
            raise
    known = {task["id"] for task in client.status()}
    return _wait_for(client, [number for number in numbers if number in known])


def _places(task: Spec) -> tuple[str, str]:
    return task["source"], task["dest"]
