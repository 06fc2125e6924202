"""A sub-workflow is planned by its PRE script; then its clusters start in /tmp."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.run_site import PREFIX, Site

STYLES = {
    "condor": "executable = launch\nremote_initialdir = {}\nqueue\n",
    "glite": 'executable = launch\n+remote_iwd = "{}"\nqueue\n',
}


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    folder = tmp_path / "submit" / "00" / "inner"
    (folder / "00" / "00").mkdir(parents=True)
    return folder


def planner(folder: Path, writes: dict[str, str], status: int = 0) -> str:
    """A PRE script that writes submit files as pegasus-plan does."""
    script = folder.parent / "plan.pre.sh"
    lines = [
        f"cat > {folder}/00/00/{name} <<'EOF'\n{writes[name]}EOF" for name in writes
    ]
    script.write_text("\n".join(["#!/bin/sh", *lines, f"exit {status}", ""]))
    script.chmod(0o755)
    return str(script)


@pytest.mark.parametrize("style", STYLES)
def test_a_cluster_starts_outside_of_the_planned_prefix(
    tmp_path: Path, inner: Path, style: str
) -> None:
    text = STYLES[style]
    deep = f"{PREFIX}/user/run0001/inner"
    writes = {
        "merge_mix_1.sub": text.format(deep),
        "merge_mix_2.sub": text.format("/pfs/work"),
        "mix_A.sub": text.format(deep),
    }
    site = Site(tmp_path / "site")
    pre = planner(inner, writes)
    done = site.start(
        "sub_workflow", "--plan", PREFIX, str(inner), pre, "--basename", "x"
    )
    assert done.returncode == 0, done.stderr
    found = {name: (inner / "00/00" / name).read_text() for name in writes}
    assert found == {**writes, "merge_mix_1.sub": text.format("/tmp")}


def test_a_planning_that_fails_is_the_status(tmp_path: Path, inner: Path) -> None:
    site = Site(tmp_path / "site")
    pre = planner(inner, {}, status=7)
    assert site.start("sub_workflow", "--plan", PREFIX, str(inner), pre).returncode == 7
    gone = site.start("sub_workflow", "--plan", PREFIX, str(inner), f"{pre}.gone")
    assert gone.returncode == 127
    assert b"cannot be started" in gone.stderr
