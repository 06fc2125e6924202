"""A story, killed at system calls that change something, and then run again.

Or, in its other form, with an error in the place of every such call.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.core.errors import BUG
from pegasus_bb.core.files import read_journal
from tests.support.forked import program

from .injector import Traced, run_traced

FULL_OR_BROKEN = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
_FEWEST = 5  # a story that changes less tests nothing
_PARTS = (".part", ".removed")  # ends of temporary names


class Story(ABC):
    """A program at work in folder ``root``; what must hold whatever happens to it."""

    spares = False  # the programs that it starts are those of another machine
    queries: tuple[str, ...] = ()  # those of them that only ask
    ends = 0  # with this status, where nothing goes wrong
    errors: tuple[int, ...] = FULL_OR_BROKEN  # that its calls get; none: only killed
    words: tuple[str, ...] = ()  # of a library that has others than the kernel

    def __init__(self, root: Path) -> None:
        """All that is there before the program starts."""
        self.root = self.watched = root

    @property
    @abstractmethod
    def argv(self) -> list[str]:
        """The program and its arguments."""

    @property
    def stdin(self) -> bytes:
        return b""

    @property
    def environ(self) -> dict[str, str]:
        ledger = str(self.root / "ledger.jsonl")
        return {"PATH": os.environ["PATH"], "PEGASUS_BB_LEDGER": ledger}

    @abstractmethod
    def check_left(self) -> None:
        """What holds at the moment after the crash, before anything runs again."""

    @abstractmethod
    def check_done(self) -> None:
        """What holds after it ran again to its end."""

    def ledger(self) -> list[str]:
        """The events of the only reservation there is."""
        lines = read_journal(self.environ["PEGASUS_BB_LEDGER"])
        return [str(line["event"]) for line in lines]

    def run(self, strike_at: int = 0, error: int = 0) -> Traced:
        self.traced = run_traced(
            self.argv,
            self.watched,
            strike_at=strike_at,
            spares=self.spares,
            queries=self.queries,
            error=error,
            stdin=self.stdin,
            environ=self.environ,
        )
        return self.traced

    def run_again(self) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end, without a trace of its calls."""
        return program(self.argv, self.watched, self.environ, self.stdin)


def no_parts_below(*folders: Path) -> None:
    """A second run leaves nothing of the first one's temporary files."""
    for folder in folders:
        left = [str(path) for path in folder.rglob("*") if path.name.endswith(_PARTS)]
        assert left == []


def struck_at_calls(
    story: type[Story], tmp_path: Path, step: int, refused: bool
) -> None:
    """Strike at each ``step``-th call; look; let it run again; look.

    It is killed before the call. If the call is ``refused`` instead, it may get along
    without, or fail with words: the kernel's, and no traceback. Then it is struck one
    call later, so that both together come to more of them.
    """
    for n, root in _roots(tmp_path, 2 if refused and step > 1 else 1, step):
        told = story(root)
        number = story.errors[n % len(story.errors)] if refused else 0
        done = told.run(strike_at=n, error=number)
        with _named(n, done):
            if done.struck_at is None:
                if not refused:
                    assert done.status == told.ends
                    told.check_done()
                assert n > _FEWEST
                return
            if refused:
                _check_words(done, told.ends, (*_words(number), *told.words))
            told.check_left()
            again = told.run_again()
            assert again.returncode == told.ends, again.stderr
            told.check_done()


def _check_words(done: Traced, ends: int, known: tuple[str, ...]) -> None:
    assert "Traceback" not in done.said
    if done.status != ends:
        assert any(words in done.said for words in known)
        assert done.status != BUG or "/" in done.said  # a path is named


def _roots(tmp_path: Path, first: int, step: int) -> Iterator[tuple[int, Path]]:
    for n in range(first, 1000, step):
        root = tmp_path / str(n)
        root.mkdir()
        yield n, root
        shutil.rmtree(root)  # not reached by one that fails: it can be looked at
    raise AssertionError("it never comes to an end")


def _words(number: int) -> tuple[str, ...]:
    """The kernel's, and what dash's echo says of every error, where a task is a line of
    sh."""
    return os.strerror(number), "echo: I/O error"


@contextmanager
def _named(n: int, done: Traced) -> Iterator[None]:
    """Says of what goes wrong inside which call the program was struck at."""
    try:
        yield
    except (AssertionError, OSError) as error:
        where = f"struck at call {n}, {done.struck_at}: {error}\n{done.said[-2000:]}"
        raise AssertionError(where) from error
