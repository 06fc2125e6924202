"""pegasus-bb hook: a folder that looks like a Pegasus home, and what a shell reads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pegasus_bb.cli.hook import hook_script, make_hook_home, shell_command
from pegasus_bb.planner.pegasus_home import PLAN, PegasusHome


@pytest.fixture
def home(tmp_path: Path) -> PegasusHome:
    root = tmp_path / "pegasus"
    for name in ("pegasus-plan", "pegasus-version", "pegasus-run", "unrelated"):
        (root / "bin").mkdir(parents=True, exist_ok=True)
        (root / "bin" / name).write_text(f"#!/bin/sh\necho real {name}\n")
        (root / "bin" / name).chmod(0o755)
    (root / "lib").mkdir()
    (root / "share").mkdir()
    return PegasusHome(root / "bin")


def test_all_tools_are_the_real_ones_but_pegasus_plan(
    home: PegasusHome, tmp_path: Path
) -> None:
    folder = make_hook_home(home, tmp_path / "pegasus-bb", tmp_path / "cache")
    assert (folder / "pegasus-plan").resolve() == hook_script(PLAN).resolve()
    assert (folder / "pegasus-version").resolve() == home.bin / "pegasus-version"
    assert (folder.parent / "lib").resolve() == home.bin.parent / "lib"
    names = sorted(p.name for p in folder.iterdir())
    assert names == ["pegasus-bb", "pegasus-plan", "pegasus-run", "pegasus-version"]


def test_the_same_pegasus_has_the_same_folder(
    home: PegasusHome, tmp_path: Path
) -> None:
    first = make_hook_home(home, tmp_path / "pegasus-bb", tmp_path / "cache")
    assert make_hook_home(home, tmp_path / "pegasus-bb", tmp_path / "cache") == first
    (home.bin / "pegasus-new").touch()
    assert make_hook_home(home, tmp_path / "pegasus-bb", tmp_path / "cache") != first


def test_a_shell_takes_the_folder_as_it_is_called(
    home: PegasusHome, tmp_path: Path
) -> None:
    odd = tmp_path / "it's $(touch PWNED); `x`"
    folder = make_hook_home(home, tmp_path / "pegasus-bb", odd)
    line = f"{shell_command(folder)}; pegasus-version; command -v pegasus-plan"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        "real pegasus-version",
        str(folder / "pegasus-plan"),
    ]
    assert not (tmp_path / "PWNED").exists()


def plan(folder: Path, cwd: Path, *arguments: str) -> str:
    """What the hooked pegasus-plan answers."""
    path = f"{folder}:{cwd / 'pegasus' / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(
        [str(folder / "pegasus-plan"), *arguments, "workflow.yml"],
        env={"PATH": path, "HOME": str(cwd)},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout


@pytest.mark.parametrize("option", ["--conf=p", "--conf p", ""])
def test_a_property_leads_to_us_as_well(
    home: PegasusHome, tmp_path: Path, option: str
) -> None:
    ours = tmp_path / "pegasus-bb"
    ours.write_text("#!/bin/sh\necho ours\n")
    ours.chmod(0o755)
    folder = make_hook_home(home, ours, tmp_path / "cache")
    assert plan(folder, tmp_path) == "real pegasus-plan\n"
    name = "p" if option else "pegasus.properties"
    (tmp_path / name).write_text("# x\n pegasus.bb.mode = persistent\n")
    assert plan(folder, tmp_path, *option.split()) == "ours\n"


def test_without_a_pegasus_its_api_finds_the_folder_all_the_same(
    tmp_path: Path,
) -> None:
    """Workflow.plan() looks for pegasus-version, and starts the pegasus-plan beside."""
    folder = make_hook_home(None, tmp_path / "pegasus-bb", tmp_path / "cache")
    version = folder / "pegasus-version"
    done = subprocess.run([version], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("5.1 ")
    assert (version.parent / "pegasus-plan").is_file()
