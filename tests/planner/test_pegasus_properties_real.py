"""Properties are those that Pegasus itself reads from the same files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pegasus_bb.model.property_files import read_properties
from tests.support.real_pegasus import HOME, MARKS

pytestmark = MARKS
READER = "edu.isi.pegasus.common.util.CommonProperties"
VARIABLES = {"_PEGASUS__A": "environment", "_PEGASUS__BB__WAIT": "2h"}


def test_files_and_variables_are_merged_as_pegasus_does(tmp_path: Path) -> None:
    assert HOME is not None
    jars = HOME.bin.parent / "share" / "pegasus" / "java"
    if not jars.is_dir() or not _merges_all(HOME.tool("pegasus-version")):
        pytest.skip("no Pegasus from 5.1.3 on")
    conf, own, here = (
        tmp_path / name for name in ("c", ".pegasusrc", "pegasus.properties")
    )
    own.write_text("pegasus.a = own\npegasus.own = ${user.name}\npegasus.b = own\n")
    here.write_text("pegasus.b = here\npegasus.of = ${pegasus.b}${HOME}${no.such}|\n")
    conf.write_text("pegasus.c = ${pegasus.of}\\u00e9 \\\n  x\n")
    java = ["java", "-cp", f"{jars}/*", f"-Duser.home={tmp_path}"]
    java += [f"-Dpegasus.home.sysconfdir={tmp_path / 'no'}", READER, str(conf)]
    environ = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", **VARIABLES}
    done = subprocess.run(
        java, cwd=tmp_path, env=environ, capture_output=True, check=True
    )
    lines = done.stdout.decode().splitlines()[1:]
    theirs = dict(line.split("=", 1) for line in lines)
    del theirs["pegasus.home.sysconfdir"]
    found = read_properties(conf, (), tmp_path, tmp_path, environ=VARIABLES)
    assert dict(found) == theirs


def _merges_all(tool: str) -> bool:
    version = subprocess.run([tool], capture_output=True, text=True).stdout
    numbers = version.strip().split("-")[0].split(".")
    return tuple(map(int, numbers[:3])) >= (5, 1, 3)
