"""Copies that the staging service makes: no node is held while data moves.

All files of a job list go in one request. Folders, and files that are there already,
are done as without a service.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from pegasus_bb.runtime.transfers.copies import Brought, Copies
from pegasus_bb.runtime.transfers.ways import Way
from pegasus_bb.service.client import Client, NoService
from pegasus_bb.service.dataspace import url_of
from pegasus_bb.service.protocol import Refused, in_requests
from pegasus_bb.service.task import COPY, DONE
from pegasus_bb.staging.failures import CopyFailed, on_a_line
from pegasus_bb.staging.items import Landed, stamp
from pegasus_bb.staging.onefile import digest_file
from pegasus_bb.staging.segments import Segments
from pegasus_bb.units import parse_duration

_LATER = ("draining", "busy")  # codes: the next service, or a later moment, will do
_LONGEST_PAUSE = 5.0  # seconds between two tries to reach a service
_TOGETHER = 64  # tasks that are waited for at a time; then their lines are noted
Spec = Dict[str, Any]
T = TypeVar("T")


class ServiceCopies(Copies):
    """The same promise as Copies; ``service`` of the tier does the work."""

    def __init__(self, settings: Mapping[str, str], *arguments: Any) -> None:
        """``settings``: the keys of the tier; the others are those of Copies."""
        super().__init__(*arguments)
        patience = parse_duration(settings.get("timeout", "15m"))
        self._service = PatientClient(settings["service"], patience)
        signal.signal(signal.SIGTERM, end_by_signal)  # else no task would be cancelled

    def _landed(
        self, ways: Sequence[Way], digest: bool, segments: Optional[Segments]
    ) -> Iterator[Brought]:
        """The service has a pace of its own, so it takes no ``segments``."""
        left: List[Tuple[Way, Spec]] = []
        paced = self._drains.spec(ways) if self._drains else {}
        for way in ways:
            more = paced if self._leaves(way) else {}
            try:
                left.append((way, {**self._spec(way, digest), **more}))
            except (OSError, CopyFailed) as error:
                yield way, error
        while left:
            again: List[Tuple[Way, Spec]] = []
            ended = self._service.ended([spec for _, spec in left])
            for (way, spec), task in zip(left, ended):
                found = _became(way, task, digest)
                if found is None:
                    again.append((way, spec))
                else:
                    yield way, found
            left = again

    def _spec(self, way: Way, digest: bool) -> Spec:
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
    """The handler of a signal that ends this program by an exception."""
    raise SystemExit(128 + number)


def _became(
    way: Way, task: Optional[Spec], digest: bool
) -> Union[Landed, CopyFailed, None]:
    """None: it is to be submitted again, for the service knows nothing of it."""
    if task is None:
        return _arrived(way)
    if task["state"] != DONE:
        return CopyFailed(f"staging service: {task['message']}")
    if task.get("outcome"):
        return Landed.of_note(task["outcome"])
    return _arrived(way) if digest else Landed(task["moved"], "", [], [])


def _arrived(way: Way) -> Optional[Landed]:
    """The copy, where source and destination have the same bytes."""
    try:
        source, dest = os.stat(way.source), os.lstat(way.target)
        digest = digest_file(way.target)
        if source.st_size != dest.st_size or digest_file(way.source) != digest:
            return None
    except OSError:
        return None
    return Landed(dest.st_size, digest, stamp(dest), stamp(source))


class PatientClient:
    """A client that waits, with a word on stderr, while its service is away."""

    def __init__(self, sockets: str, patience: float) -> None:
        """``patience``: seconds without a service after which that is an error."""
        self._sockets, self._patience = sockets, patience
        self._client: Optional[Client] = None
        self._about: Optional[Spec] = None  # what it answers to `ping`
        self._has_told = False
        self._lacks: Set[str] = set()  # keys that were said to be missing

    def url_of(self, path: str) -> str:
        """The place of ``path``, which has no links. Raises CopyFailed, NoService."""
        roots: Dict[str, str] = self._ping()["roots"]
        found = url_of(path, roots)
        if not found:
            known = ", ".join(f"{name} ({at})" for name, at in roots.items())
            raise CopyFailed(
                f"{on_a_line(path)}: lies in no dataspace of the staging service "
                f"{self._sockets}, which has {known}; an administrator adds one to its "
                "configuration, or plan with a tier without `service`"
            )
        return found

    def takes(self, key: str) -> bool:
        """Whether a task of this service may have ``key``; an older service is told of
        on stderr, once. Raises NoService."""
        found = key in self._ping().get("keys", ())
        if not found and key not in self._lacks:
            self._lacks.add(key)
            words = f"is older and takes no {key!r}, so copies are made without it"
            print(f"transfer: the staging service {words}", file=sys.stderr, flush=True)
        return found

    def _ping(self) -> Spec:
        if self._about is None:
            self._about = self._asked(lambda client: client.ask("ping"))
        return self._about

    def ended(self, specs: Sequence[Spec]) -> Iterator[Optional[Spec]]:
        """Submit ``specs``; how each has ended, in their order. None: the service has
        forgotten it. Raises Refused, NoService. If this is stopped, it cancels them."""
        numbers: List[int] = []
        try:
            for request in in_requests(specs):
                self._asked(lambda c: _submit(c, request, numbers))  # noqa: B023
            for first in range(0, len(specs), _TOGETHER):
                some = numbers[first : first + _TOGETHER]
                tasks = self._asked(lambda c: _waited(c, some))  # noqa: B023
                for number, spec in zip(some, specs[first:]):
                    task = tasks.get(number)
                    is_it = task is not None and _places(task) == _places(spec)
                    yield task if is_it else None
        except BaseException:
            self._cancel(numbers)
            raise

    def _cancel(self, numbers: Sequence[int]) -> None:
        """A copy that came later could be made in a reservation that is given back."""
        with contextlib.suppress(NoService, Refused):
            Client(self._sockets).cancel(numbers)  # the other may be in an answer

    def _asked(self, ask: Callable[[Client], T]) -> T:
        """The answer to ``ask``, however often the service goes away before that."""
        until, pause = 0.0, 0.1
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
        self._client = self._about = None  # the next one may be another version

    def _tell(self, error: Exception) -> None:
        if not self._has_told:
            words = f"transfer: {error}; waiting up to {self._patience:g} s for it"
            print(words, file=sys.stderr, flush=True)
        self._has_told = True

    def _why(self, error: Exception) -> str:
        return (
            f"{error}; no other answer in {self._patience:g} s (`timeout` of the "
            f"tier). Is it running? pegasus-bb stager --sockets {self._sockets} status"
        )


def _submit(client: Client, specs: Sequence[Spec], numbers: List[int]) -> None:
    """Submit ``specs`` and add their numbers to ``numbers``. A signal to end waits for
    the answer: without their numbers the tasks could not be cancelled."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    try:
        numbers += client.submit(specs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _waited(client: Client, numbers: Sequence[int]) -> Dict[int, Spec]:
    """The tasks of ``numbers`` that the service knows, when all of them have ended."""
    try:
        return {task["id"]: task for task in client.wait(numbers)}
    except Refused as error:
        if error.code != "no-such-task":
            raise
    known = {task["id"] for task in client.status()}
    return _waited(client, [number for number in numbers if number in known])


def _places(task: Spec) -> Tuple[str, str]:
    return task["source"], task["dest"]
