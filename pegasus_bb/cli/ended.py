"""A command that a signal ends leaves nothing half done behind."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pegasus_bb.errors import INTERRUPTED


@contextmanager
def cleanly_ended() -> Iterator[None]:
    """SIGTERM and a closed terminal end the block through its ``finally``, as Ctrl-C
    does, with 128 and the signal's number; what was to be ignored, as under nohup,
    still is."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    both = (signal.SIGTERM, signal.SIGHUP)
    ours = [number for number in both if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
