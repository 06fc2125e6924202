"""Users who write files for ever, and delete their oldest ones when they are full."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random

from pegasus_bb_lab.flash.trace import Recorder, Trace
from pegasus_bb_lab.model.flash_device import FlashInput
from pegasus_bb_lab.model.flash_users import Users

_TURNS = 4096  # drawn at once


def record_users(wanted: FlashInput, users: Users, seed: int) -> Trace:
    """Threads are equally fast, and take turns by chance."""
    random = Random(seed)  # noqa: S311 - no secret
    recorder = Recorder(wanted.stripes)
    row = wanted.load.stripe * wanted.device.devices
    length = -(-users.file // row)
    limits = _limits(wanted.load.fill * wanted.capacity, users)
    rings = [
        _Ring(recorder, user, limit, length, users.drop)
        for user, limit in enumerate(limits)
    ]
    threads = [_Thread(ring) for ring in rings for _ in range(users.threads)]
    turn = threads  # users begin in order
    while not recorder.is_done:
        for thread in turn:
            thread.write()
        turn = random.choices(threads, k=_TURNS)
    return recorder.trace()


class _Ring:
    """The files of a user, the oldest first."""

    def __init__(
        self, recorder: Recorder, user: int, limit: float, length: int, drop: float
    ) -> None:
        self.recorder, self.user, self.length = recorder, user, length
        self.files: deque[int] = deque()
        self._limit, self._drop, self._live = limit, drop, 0

    def write(self, file: int) -> None:
        if self._live >= self._limit:
            self._delete_oldest()
        self.recorder.write(file)
        self._live += 1

    def _delete_oldest(self) -> None:
        count = min(len(self.files), max(1, int(len(self.files) * self._drop)))
        for _ in range(count):
            self.recorder.delete(self.files.popleft())
        self._live -= count * self.length


class _Thread:
    def __init__(self, ring: _Ring) -> None:
        self._ring, self._file, self._left = ring, -1, 0

    def write(self) -> None:
        """One stripe of its file, or of a new one."""
        ring = self._ring
        if not self._left:
            self._file = ring.recorder.open(ring.user, ring.user, 0)
            self._left = ring.length
        ring.write(self._file)
        self._left -= 1
        if not self._left:
            ring.files.append(self._file)


def _limits(stripes: float, users: Users) -> Sequence[float]:
    """The stripes of each user. BIOS gives new users its streams in turn, so the order
    of users says who shares one (Koo et al., section 5.2)."""
    kinds = users.capacities
    chosen = [_kind(user, users, len(kinds)) for user in range(users.count)]
    total = sum(kinds[kind] for kind in chosen)
    return [stripes * kinds[kind] / total for kind in chosen]


def _kind(user: int, users: Users, kinds: int) -> int:
    """As if there were a stream for each kind."""
    turn = user // kinds
    of = -(-users.count // kinds)
    if users.configuration == 1:
        return user % kinds
    if users.configuration == 2:  # the second half of a stream's users has another
        return (user + (2 * turn >= max(2, of)) * (kinds // 2)) % kinds
    return user * kinds // users.count
