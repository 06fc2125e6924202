"""What the service keeps is for no other user: else it does not start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.stager.ownership import FILES
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.socket_server import _take_folders


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(str(tmp_path / "state"), str(tmp_path / "sockets"), {})


@pytest.mark.parametrize("name", FILES[:2])
def test_what_others_may_write_is_refused_with_its_remedy(
    config: Config, name: str
) -> None:
    path = Path(config.state, name)
    path.parent.mkdir()
    path.touch()
    path.chmod(0o777)
    with pytest.raises(UsageError) as refused:
        _take_folders(config)
    assert str(path) in str(refused.value)
    remedy = str(refused.value).partition("then ")[2]
    assert remedy == f"chown -R {os.getuid()} {path} && chmod -R go-rwx {path}"
    assert os.system(remedy) == 0  # noqa: S605
    _take_folders(config)
