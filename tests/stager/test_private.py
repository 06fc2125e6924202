"""What the service keeps is for no other user: else it does not start."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.stager.ownership import FILES, FOLDERS
from pegasus_bb.stager.site_config import Config
from pegasus_bb.stager.socket_server import _take_folders


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(str(tmp_path / "state"), str(tmp_path / "sockets"), {})


@pytest.mark.parametrize("name", [*FOLDERS, *FILES[:2]])
def test_what_others_may_write_is_refused_with_its_remedy(
    config: Config, name: str
) -> None:
    path = Path(config.state, name)
    path.parent.mkdir()
    if "." in name:
        path.touch()
    else:
        path.mkdir()
    path.chmod(0o777)
    with pytest.raises(UsageError) as refused:
        _take_folders(config)
    assert str(path) in str(refused.value)
    remedy = str(refused.value).partition("then ")[2]
    assert remedy == f"chown -R {os.getuid()} {path} && chmod -R go-rwx {path}"
    assert os.system(remedy) == 0  # noqa: S605
    _take_folders(config)


def test_a_folder_that_others_may_read_is_refused_and_a_file_is_closed(
    config: Config,
) -> None:
    jobs, buffers = (Path(config.state, name) for name in ("jobs", "buffers.json"))
    jobs.mkdir(mode=0o700, parents=True)
    buffers.write_text("[]")
    buffers.chmod(0o644)  # as an earlier version made it
    _take_folders(config)
    assert stat.S_IMODE(buffers.stat().st_mode) == 0o600
    jobs.chmod(0o755)
    with pytest.raises(UsageError, match="others may read or write it"):
        _take_folders(config)
