"""Who is killed with -9 ends nothing that he has started: somebody else has to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.process import start

# It waits for a word; whoever dies says none, and the pipe ends. POSIX, and dash's
# kill: -s, for it takes no -- after -KILL.
_WATCH = """\
read -r word && exit
kill -s KILL -- "-$1"
shift
for pipe; do test -p "$pipe" && rm -f -- "$pipe"; done
"""


@contextmanager
def ended_with_us(group: int, pipes: Sequence[Path]) -> Iterator[None]:
    """Should this process be killed within the block, all of the process ``group`` is
    killed, too, and those ``pipes`` are removed that would let readers wait for ever.

    Raises UsageError where there is no sh.
    """
    theirs, ours = os.pipe()
    try:
        words = [str(group), *map(str, pipes)]
        argv = ["/bin/sh", "-c", _WATCH, "sh", *words]
        # Not in our session: what kills our whole group must not reach it.
        watch = start(argv, cwd="/", stdin=theirs, new_session=True)
    except OSError as error:
        os.close(ours)
        raise UsageError(f"/bin/sh cannot be started: {error.strerror}") from error
    finally:
        os.close(theirs)
    try:
        yield
    finally:
        with suppress(BrokenPipeError):  # somebody has killed it
            os.write(ours, b"\n")
        os.close(ours)
        watch.wait()
