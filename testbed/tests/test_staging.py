"""data_in and data_out make real copies of files and directories."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.tests.conftest import GID, MIB, Dw

JOB = "#DW jobdw type=scratch capacity=10MiB access_mode=striped"


@pytest.fixture
def pfs(tmp_path: Path) -> Path:
    """A directory of the parallel file system, with something in it."""
    pfs = tmp_path / "pfs"
    (pfs / "tree" / "below").mkdir(parents=True)
    (pfs / "in.txt").write_text("input")
    (pfs / "tree" / "a").write_text("a")
    (pfs / "tree" / "below" / "b").write_text("b")
    return pfs


def test_files_and_directories_go_in_and_out(dw: Dw, pfs: Path) -> None:
    script = dw.script(
        JOB,
        f"#DW stage_in type=file source={pfs}/in.txt destination=$DW_JOB_STRIPED/d/in",
        f"#DW stage_in type=directory source={pfs}/tree destination=$DW_JOB_STRIPED/t",
        f"#DW stage_out type=file destination={pfs}/out source=$DW_JOB_STRIPED/d/out",
        f"#DW stage_out type=directory source=$DW_JOB_STRIPED destination={pfs}/all",
    )
    buffer = Path(dw.run_job("50", script, 10 * MIB)["DW_JOB_STRIPED"])
    assert (buffer / "d" / "in").read_text() == "input"
    assert (buffer / "t" / "below" / "b").read_text() == "b"
    (buffer / "d" / "out").write_text("result")
    dw.end_job("50", script)
    assert (pfs / "out").read_text() == "result"
    assert (pfs / "all" / "t" / "a").read_text() == "a"


def test_a_persistent_buffer_can_be_staged_too(dw: Dw, pfs: Path) -> None:
    dw.create("csb")
    variable = "$DW_PERSISTENT_STRIPED_csb"
    script = dw.script(
        "#DW persistentdw name=csb",
        f"#DW stage_in type=file source={pfs}/in.txt destination={variable}/x",
    )
    environ = dw.run_job("51", script)
    assert (Path(environ[variable[1:]]) / "x").read_text() == "input"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("file source={pfs}/no destination=$DW_JOB_STRIPED/x", "/pfs/no'"),
        ("file source={pfs}/in.txt destination=$DW_PERSISTENT_STRIPED_b/x", "has no"),
    ],
)
def test_what_cannot_be_staged_is_named(
    dw: Dw, pfs: Path, words: str, message: str
) -> None:
    dw.create("b")
    script = dw.script(JOB, f"#DW stage_in type={words.format(pfs=pfs)}")
    dw.setup("52", script, MIB)
    assert message in dw.refused("data_in", "--token", "52", "--job", script)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can copy as another user")
def test_copies_are_made_as_the_owner_never_as_root(dw: Dw, pfs: Path) -> None:
    secret = pfs / "secret"
    secret.write_text("root's")
    secret.chmod(0o600)
    line = f"#DW stage_in type=file source={secret} destination=$DW_JOB_STRIPED/x"
    script = dw.script(JOB, line)
    words = "--token 55 --caller SLURM --user 65534 --groupid 65534"
    dw.good("setup", *words.split(), "--capacity", f"wlm_pool:{MIB}", "--job", script)
    said = dw.refused("data_in", "--token", "55", "--job", script)
    assert "Permission denied" in said
    [instance] = dw.place.buffers.iterdir()
    assert (instance / "striped").stat().st_uid == 65534
    assert instance.stat().st_uid == 0
    assert GID == 0
