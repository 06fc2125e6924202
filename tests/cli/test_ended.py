"""A signal that ends a command lets it put things in order first."""

from __future__ import annotations

import errno
import os
import signal

import pytest

from pegasus_bb.cli import cleanly_ended, main


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_a_signal_ends_is_put_in_order(number: signal.Signals) -> None:
    order: list[str] = []
    # The tests may run under nohup, or where a script ignores Ctrl-C.
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)
    try:
        with pytest.raises(SystemExit) as ended, cleanly_ended():
            try:
                os.kill(os.getpid(), number)
                signal.pause()
            finally:
                order.append("removed")
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, before)
    assert (ended.value.code, order) == (128 + number, ["removed"])


def test_under_nohup_a_closed_terminal_ends_nothing() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with cleanly_ended():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    ("number", "path", "advice"),
    [
        (errno.EACCES, "run/.engine.lock", "call it as the owner"),
        (errno.EISDIR, "run/jobstate.log", "move that folder away"),
        (errno.EIO, "run/bb/plan.json", "look after the file system"),
    ],
)
def test_what_a_person_mends_is_a_line_and_no_traceback(
    number: int,
    path: str,
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refused(**_: object) -> None:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr("pegasus_bb.cli.cli", refused)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"pegasus-bb: {path}: {os.strerror(number)}"
    assert second.startswith(f"  fix:      {advice}")
