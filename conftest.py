"""How many tests run, how `pytest -n` deals them to its workers, and as which user."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pegasus_bb_testbed.home import DEFAULT, FLAVOURS
from xdist.scheduler import LoadScopeScheduling

from pegasus_bb.core.removal import remove
from tests.support.hostile_names import HOSTILE

NOBODY = 65534
# The programs that play Slurm run in this Python. Where another one stands first in
# PATH, as a shim that looks for one, each call of them may take a tenth of a second.
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
# Each to one worker.
_WHOLE = (
    "test_bench.py",
    "test_darshan_runs.py",
    "test_tang.py",
)
# These follow a tutorial first, once for all.
_OF_WORDS = (
    "tests/docs/test_readme.py",
    "tests/docs/test_reference.py",
    "tests/docs/test_submit_directory.py",
)
# Hypothesis tries the same values each time, as long as the same modules are loaded (it
# also draws constants that it finds in them).
# `make fuzz` looks for new values.
_SLOW = [HealthCheck.too_slow]  # how busy the machine is says nothing of the code
_SAME = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=_SLOW
)
settings.register_profile("few", _SAME, max_examples=25)
settings.register_profile("many", _SAME, max_examples=100)
settings.load_profile("few")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="all but nightly tests, with many examples, and many crashes",
    )
    parser.addoption(
        "--every-call", action="store_true", help="crashes at every system call"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Below a script that has them in its background, they would ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("thorough"):
        config.option.markexpr = "not nightly"
        settings.load_profile("many")


class Dealer(LoadScopeScheduling):  # type: ignore[misc,unused-ignore]
    """Deals each test by itself, but all tests on one testbed to one worker.

    So it does with files whose tests share a long preparation. Those on a testbed are
    dealt first, since they mostly wait. (The `loadgroup` of pytest-xdist does nothing
    with a pytest that keeps node ids to itself.)
    """

    def _split_scope(self, nodeid: str) -> str:
        if any(f"/{name}" in nodeid for name in _WHOLE):
            return nodeid.partition("::")[0]
        if nodeid.startswith(_OF_WORDS):
            return "the tutorial's workflow"
        if not nodeid.startswith("testbed/tests/test_site_"):
            return nodeid
        parameters = nodeid.partition("[")[2].rstrip("]").split("-")
        named = (site for site in ("lua", "second", *FLAVOURS) if site in parameters)
        return f"testbed {next(named, DEFAULT.slurm)}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Dealer:
    """Called by pytest-xdist, whatever its --dist says."""
    return Dealer(config, log)


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test writes into the ledger, or the journals, of the user who runs it."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the test's own."""
    path = tmp_path / "ledger.jsonl"
    monkeypatch.setenv("PEGASUS_BB_LEDGER", str(path))
    return path


@pytest.fixture(scope="session", autouse=True)
def one_archive() -> None:
    """To make it of the modules that travel takes longer than the rest of a plan."""
    from tests.support.fork_server import share_archive

    share_archive()


@pytest.fixture
def new_archives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each planning of this process makes one, as for a user."""
    from pegasus_bb.runtime import install
    from tests.support.fork_server import make_archive

    monkeypatch.setattr(install, "make_archive", make_archive)


@pytest.fixture
def of_a_user() -> Iterator[Path]:
    """A folder of a user whom mode bits bind, also if root runs the tests."""
    folder, is_root = Path(tempfile.mkdtemp()), os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        remove(str(folder))


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def hostile(request: pytest.FixtureRequest) -> str:
    """A file name that is legal, and trouble."""
    return str(request.param)
