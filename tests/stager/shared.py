"""One service of this user for all tests of a process that neither kill nor end it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.runtime.stager_client.client import Client
from tests.support.stager import Daemon


@pytest.fixture(scope="session")
def service() -> Iterator[Daemon]:
    folder = Path(tempfile.mkdtemp(prefix="pegasus-bb-service-"))
    service = Daemon(folder)
    service.start().close()
    yield service
    service.end()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def daemon(service: Daemon, tmp_path: Path) -> Iterator[Daemon]:
    """The service, with files of this test; no task is left to the next one."""
    daemon = Daemon(tmp_path)
    daemon.sockets, daemon.environ = service.sockets, service.environ
    daemon.process = service.process
    yield daemon
    with daemon.connect() as client:
        client.ask("cancel", all=True)
    daemon.resume()


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    with daemon.connect() as client:
        yield client
