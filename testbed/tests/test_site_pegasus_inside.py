"""A Pegasus that is shown in a testbed; a few words of sh stand for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call
from pegasus_bb_testbed.sharing import Installed, share_pegasus

from pegasus_bb.core.errors import PegasusBBError

pytestmark = [pytest.mark.site]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pegasus" / "bin"
    folder.mkdir(parents=True)
    for tool in ("pegasus-version", "pegasus-preflight-check"):
        (folder / tool).write_text('#!/bin/sh\necho "$JAVA_HOME"\n')
        (folder / tool).chmod(0o755)
    return folder


def test_it_is_found_by_every_command(home: Home, folder: Path) -> None:
    before = home.environ.read_bytes() if home.environ.exists() else b""
    environ = {"PATH": str(folder), "JAVA_HOME": "/some/java", "HOME": "/nowhere"}
    try:
        share_pegasus(home, Installed(environ, (folder.parent,)))
        answer = call(home, ["sh", "-c", "pegasus-version; which sinfo; echo $HOME"])
        assert answer.out.split() == ["/some/java", "/usr/bin/sinfo", "/root"]
        said = call(home, ["condor_config_val", "STARTER_JOB_ENVIRONMENT"]).out
        assert "JAVA_HOME='/some/java'" in said
        (folder / "pegasus-preflight-check").write_text("#!/bin/sh\necho no git; false")
        with pytest.raises(PegasusBBError, match=r"preflight-check failed: no git"):
            share_pegasus(home, Installed(environ, (folder.parent,)))
        assert call(home, ["which", "pegasus-version"]).status != 0
    finally:
        home.environ.unlink(missing_ok=True)
        if before:
            home.environ.write_bytes(before)
