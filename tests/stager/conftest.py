"""A service of this user, in a process of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from tests.stager.lives import ROOT
from tests.support.stager import Daemon


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not below pytest's own folder: that is closed to other users again whenever
    another pytest begins."""
    folder = Path(tempfile.mkdtemp(prefix="pegasus-bb-service-"))
    folder.chmod(0o711)
    yield folder
    until = time.monotonic() + 20
    while folder.exists() and time.monotonic() < until:
        # a service that ends writes a last time
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def life() -> str:
    """As whom a site's service runs (lives.py)."""
    return ROOT


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.end()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Daemon]:
    """A service of the test alone, where others of its file share one."""
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.end()


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with daemon.start() as client:
        yield client
