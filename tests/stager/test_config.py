"""A configuration that cannot work is refused in a sentence, and nothing is made."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime.stager_client.client import connect_or_start
from pegasus_bb.stager.ownership import FILES
from pegasus_bb.stager.site_config import Config, site_config, user_config
from pegasus_bb.stager.socket_server import _take_folders
from tests.support.stager import Daemon

POOL: dict[str, Any] = {"path": "/none/bb", "capacity": "10MiB", "granularity": "1MiB"}
USER = pwd.getpwuid(os.getuid()).pw_name


def slurm(**more: Any) -> dict[str, Any]:
    return {"slurm": {"user": USER, "pools": {"flash": POOL}, **more}}


def pool(**more: Any) -> dict[str, Any]:
    return slurm(pools={"flash": {**POOL, **more}})


def nodes(**more: Any) -> dict[str, Any]:
    return slurm(nodes={"path": "/none/nvme", "mailbox": "/none/mail", **more})


def node(**more: Any) -> dict[str, Any]:
    return {"node": {"path": "/none/nvme", "mailbox": "/none/mail", **more}}


def space(**more: Any) -> dict[str, Any]:
    return {"dataspaces": {"lustre": {"path": "/none/lus", **more}}}


OTHER = {"path": "/none/bb", "capacity": "1TiB"}
MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"state": "/none/\0"},
        r"stager.json: state: an absolute path; found '/none/\\x00'",
    ),
    ({"state": "FILE"}, "state: a folder; name one, or remove what is there; found"),
    ({"sockets": "/none/../run"}, "sockets: an absolute path"),
    (space(target=[1]), r"dataspace lustre: target: a name .*; found \[1\]"),
    (space(rate="2XB/s"), "dataspace lustre: rate: 2GB/s; found '2XB/s'"),
    (space(discard="often"), "dataspace lustre: discard: "),
    (space(discard="0"), "lustre: discard: 10m, at most so often; found '0'"),
    (pool(per_user="1KiB"), "per_user: a granule or more"),
    (node(discard=[]), "node: discard: "),
    ({"dataspaces": {"": {"path": "/none"}}}, "a dataspace has a lower-case name"),
    (slurm(spool="FILE"), "slurm: spool: a folder"),
    (slurm(spool="/none/bb"), "flash: another folder than that of slurm: spool"),
    (slurm(user="a\0b"), r"slurm: user 'a\\x00b' is no user of this host"),
    (pool(path="FILE"), "slurm: pool flash: path: a folder"),
    (pool(path="/"), "state: a folder outside that of slurm: pool flash"),
    (pool(capacity=[1]), "slurm: pool flash: capacity: '.1.': not a size"),
    (pool(granularity="1.5GiB"), "granularity: '1.5GiB': decimal sizes"),
    (
        slurm(pools={"flash": POOL, "slow": {**OTHER, "path": "/none/bb/slow"}}),
        "slurm: pool slow: a folder outside that of slurm: pool flash",
    ),
    (slurm(spool="/none/state/jobs"), "slurm: spool: a folder outside that of state"),
    ({"sockets": "/none/state/users"}, "sockets: a folder outside that of state"),
    (nodes(mailbox="/none/bb"), "than that of slurm: nodes: mailbox"),
    (nodes(timeout="soon"), "slurm: nodes: timeout: 'soon': not a duration"),
    (node(mailbox="/none/nvme"), "node: path: another folder than that of node: mail"),
    (node(path="/"), "node: path: a folder of its own"),
]


@pytest.mark.parametrize(("parts", "sentence"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_a_mistake_is_refused(
    tmp_path: Path, parts: dict[str, Any], sentence: str
) -> None:
    (tmp_path / "file").touch()
    words = json.dumps({**space(), "state": "/none/state", **parts})
    path = tmp_path / "stager.json"
    path.write_text(words.replace("FILE", str(tmp_path / "file")))
    with pytest.raises(UsageError, match=sentence) as refused:
        site_config(str(path))
    assert str(path) in str(refused.value)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_in_the_place_of_a_socket(daemon: Daemon) -> None:
    name = "control"
    (daemon.sockets / name).mkdir(parents=True)
    daemon.sockets.chmod(0o700)
    said = daemon.refusal()
    assert (
        f"{daemon.sockets / name}: Is a directory; mend that, or name another" in said
    )
    assert [path.name for path in daemon.sockets.iterdir()] == [name]


def test_a_path_that_is_too_long_for_a_socket(daemon: Daemon) -> None:
    daemon.sockets = daemon.folder / ("x" * 100)
    daemon.environ["PEGASUS_BB_STAGER"] = str(daemon.sockets)
    sentence = "control: a socket's path has at most 107 bytes, this one has "
    assert sentence in daemon.refusal()
    with pytest.raises(UsageError, match="name a shorter folder"):
        connect_or_start(str(daemon.sockets / "user"))


def test_a_folder_of_another_user_is_not_used(daemon: Daemon) -> None:
    daemon.sockets.mkdir(mode=0o700)
    daemon.sockets.chmod(0o770)
    assert f"&& chmod go-w {daemon.sockets}" in daemon.refusal()


def test_the_sockets_of_a_service_that_runs_stay_its_own(daemon: Daemon) -> None:
    with daemon.start() as client:
        pid = client.ask("ping")["pid"]
    elsewhere = {**daemon.environ, "XDG_STATE_HOME": str(daemon.folder / "other")}
    daemon.environ, own = elsewhere, daemon.environ
    assert "another staging service listens there" in daemon.refusal()
    daemon.environ = own
    for name in ("user", "control"):
        with daemon.connect(name) as client:
            assert client.ask("ping")["pid"] == pid


def test_a_folder_for_sockets_that_is_not_there_is_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job has the variables of the login that submitted it."""
    monkeypatch.delenv("PEGASUS_BB_STAGER", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    config = user_config()
    assert config.sockets == f"{config.state}/pegasus-bb"
    (tmp_path / "run").mkdir()
    assert user_config().sockets == f"{tmp_path}/run/pegasus-bb"


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
