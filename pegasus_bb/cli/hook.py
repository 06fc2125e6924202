"""pegasus-bb hook: put our pegasus-plan in front of the real one, in this shell."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.pegasus_home import PLAN, PegasusHome, find_home

_VERSION = "pegasus-version"  # Pegasus.api looks for it
_SIBLINGS = ("lib", "lib64", "share", "etc")


@click.command("hook")
def command() -> None:
    """Print a line for the shell to evaluate: eval "$(pegasus-bb hook)".

    Then pegasus-plan takes --bb-X and pegasus.bb.X, and Workflow.plan() of Pegasus.api
    takes pegasus.bb.X. A call without them reaches the real pegasus-plan unchanged.
    """
    home = find_home()
    if home is None:
        click.echo(
            "no Pegasus found: pegasus-plan will use the built-in planner", err=True
        )
    folder = make_hook_home(home, _this_program(), cache_folder(os.environ))
    click.echo(shell_command(folder))


def _this_program() -> Path:
    called = Path(sys.argv[0])
    if called.name == "pegasus-bb" and called.is_file():
        return called.absolute()
    found = shutil.which("pegasus-bb", path=str(Path(sys.executable).parent))
    return Path(found or shutil.which("pegasus-bb") or "pegasus-bb").absolute()


def make_hook_home(home: PegasusHome | None, command: Path, cache: Path) -> Path:
    """Make that folder below ``cache``, if it is new, and return its bin. ``command``
    is pegasus-bb.

    Raises UsageError if our pegasus-plan is missing, or if the cache cannot be written.
    """
    links = {"bin/pegasus-bb": command, f"bin/{PLAN}": hook_script(PLAN)}
    if home is None:
        links[f"bin/{_VERSION}"] = hook_script(_VERSION)
    else:
        for tool in sorted(home.bin.glob("pegasus-*")):
            links.setdefault(f"bin/{tool.name}", tool)
        for name in _SIBLINGS:
            if (home.bin.parent / name).exists():
                links[name] = home.bin.parent / name
    text = "\n".join(f"{name}\t{target}" for name, target in links.items())
    digest = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
    folder = cache / "pegasus-bb" / "hook" / digest
    if not folder.is_dir():
        _make(folder, links)
    return folder / "bin"


def cache_folder(environ: Mapping[str, str]) -> Path:
    folder = environ.get("XDG_CACHE_HOME", "")
    return Path(folder) if Path(folder).is_absolute() else Path.home() / ".cache"


def shell_command(folder: Path) -> str:
    """The POSIX shell command that puts ``folder`` first on PATH."""
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"'


def hook_script(name: str) -> Path:
    """planner-hooks/NAME, in a checkout or installed. Raises UsageError."""
    checkout = Path(__file__).resolve().parents[2]
    installed = Path(sysconfig.get_path("data")) / "share" / "pegasus-bb"
    for place in (checkout, installed):
        if (place / "planner-hooks" / name).is_file():
            return place / "planner-hooks" / name
    raise UsageError(
        f"planner-hooks/{name} is neither in a checkout of pegasus_bb nor in "
        f"{installed}; install pegasus_bb again"
    )


def _make(folder: Path, links: Mapping[str, Path]) -> None:
    """Make all links, then rename: another shell never sees half of the folder."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
        (part / "bin").mkdir()
        for name, target in links.items():
            (part / name).symlink_to(target)
        try:
            part.rename(folder)
        except OSError:
            shutil.rmtree(part, ignore_errors=True)
            if not folder.is_dir():  # else another shell was faster
                raise
        folder.chmod(0o700)  # links for the shells of this user
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
