"""A run carries its own programs: nothing of the package is needed beside them."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from pegasus_bb.core.errors import UsageError
from pegasus_bb.runtime import install
from pegasus_bb.runtime.install import PROGRAMS, default_python, install_runtime

Site = Any  # tests/runtime/conftest.py
pytestmark = pytest.mark.usefixtures("new_archives")


@pytest.fixture
def bb(tmp_path: Path) -> Path:
    install_runtime(str(tmp_path / "bb"), sys.executable)
    return tmp_path / "bb"


def test_every_program_is_there_and_starts_and_writes_nothing_there(bb: Path) -> None:
    """Compute nodes often mount it read-only: no .pyc, no lock, no note."""
    stamps = {path: path.stat().st_mtime_ns for path in bb.rglob("*")}
    assert sorted(path.name for path in (bb / "bin").iterdir()) == sorted(PROGRAMS)
    for path in (bb / "bin").iterdir():
        assert path.stat().st_mode & 0o777 == 0o755
        done = subprocess.run(
            [path], capture_output=True, text=True, stdin=subprocess.DEVNULL, env={}
        )
        assert "Traceback" not in done.stderr, path.name
    assert {path: path.stat().st_mtime_ns for path in bb.rglob("*")} == stamps


def test_every_module_loads_from_the_archive_alone(tmp_path: Path) -> None:
    """Also by another Python, to which our byte code means nothing."""
    names = {}
    with ZipFile(tmp_path / "one.zip", "w") as copy:
        made = ZipFile(io.BytesIO(install.make_archive()))
        for file in made.namelist():
            if file.endswith(".py"):
                copy.writestr(file, made.read(file))
                names[file] = file[:-3].removesuffix("/__init__").replace("/", ".")
    assert len(names) > 80
    code = (
        "import sys, json, importlib; sys.path.insert(0, sys.argv[1])\n"
        "for name in json.loads(sys.argv[2]):\n"
        "    module = importlib.import_module(name)\n"
        "    assert module.__file__.startswith(sys.argv[1]), module.__file__\n"
    )
    argv = [str(tmp_path / "one.zip"), json.dumps(list(names.values()))]
    done = subprocess.run(
        [sys.executable, "-IS", "-c", code, *argv], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_job_s_python_path_does_not_reach_it(site: Site, tmp_path: Path) -> None:
    (tmp_path / "evil").mkdir()
    for name in ("os.py", "json.py", "typing.py", "pegasus_bb.py"):
        (tmp_path / "evil" / name).write_text("raise SystemExit('evil')")
        shutil.copy(tmp_path / "evil" / name, tmp_path)  # the current folder as well
    done = site.start(
        "record", "sh", "-c", "echo $PYTHONPATH", PYTHONPATH=str(tmp_path / "evil")
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "evil") in done.stdout.decode()


@pytest.mark.parametrize("by_name", [True, False])
def test_a_python_is_found_by_name_where_the_job_runs_or_by_a_path_with_a_blank(
    tmp_path: Path, by_name: bool
) -> None:
    link = tmp_path / "my python" / "python3"
    link.parent.mkdir()
    link.symlink_to(sys.executable)
    python = "/usr/bin/env python3" if by_name else str(link)
    install_runtime(str(tmp_path / "my bb"), python)
    done = subprocess.run(
        [tmp_path / "my bb" / "bin" / "record", "printf", "%s|", "a b", "$(id)", "'"],
        env={"PATH": f"{link.parent}:/usr/bin:/bin" if by_name else "/usr/bin:/bin"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert b"a b|$(id)|" in done.stdout


@pytest.mark.parametrize(
    ("version", "chosen"),
    [
        ("none", "env"),
        ("python3.6", "env"),
        ("python3.9", "system"),
        ("python3.13", "system"),
    ],
)
def test_the_system_s_python_is_taken_where_it_is_new_enough(
    tmp_path: Path, version: str, chosen: str
) -> None:
    system = tmp_path / "python3"
    if version != "none":
        (tmp_path / version).write_text("")
        (tmp_path / version).chmod(0o755)
        system.symlink_to(version)
    expected = {"env": "/usr/bin/env python3", "system": str(system)}[chosen]
    assert default_python(str(system)) == expected


@pytest.mark.parametrize(
    "python",
    ["bin/python3", "python3 -u", "/a\nb", "/a$b"],
)
def test_what_is_no_python_is_refused(tmp_path: Path, python: str) -> None:
    with pytest.raises(UsageError, match=r"pegasus\.bb\.python"):
        install_runtime(str(tmp_path / "bb"), python)
    assert not (tmp_path / "bb").exists()


def test_one_package_makes_one_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each plan would be kept on nodes anew. Also without the right to compile."""
    assert install.make_archive() == install.make_archive()
    copy = tmp_path / "pegasus_bb"
    shutil.copytree(Path(install.__file__).parent.parent, copy)
    for folder in copy.rglob("__pycache__"):
        shutil.rmtree(folder)
        folder.write_text("a file is in the way")
    monkeypatch.setattr(install, "__file__", str(copy / "runtime" / "install.py"))
    assert install.make_archive() == install.make_archive()
