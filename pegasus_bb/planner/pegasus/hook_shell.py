"""A folder that looks like a Pegasus home, with our pegasus-plan in its bin.

Pegasus.api takes every tool from the folder where it finds pegasus-version, and the
tools look for lib and share next to the folder that they were called from.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.planner.pegasus.home import PLAN, PegasusHome

_SIBLINGS = ("lib", "lib64", "share", "etc")


def make_hook_home(home: PegasusHome | None, command: Path, cache: Path) -> Path:
    """Make that folder below ``cache``, if it is new, and return its bin. ``command``
    is pegasus-bb.

    Raises UsageError if our pegasus-plan is missing, or if the cache cannot be written.
    """
    links = {"bin/pegasus-bb": command, f"bin/{PLAN}": hook_script()}
    if home is not None:
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


def hook_script() -> Path:
    """planner-hooks/pegasus-plan, in a checkout or installed. Raises UsageError."""
    checkout = Path(__file__).resolve().parents[3]
    installed = Path(sysconfig.get_path("data")) / "share" / "pegasus-bb"
    for place in (checkout, installed):
        if (place / "planner-hooks" / PLAN).is_file():
            return place / "planner-hooks" / PLAN
    raise UsageError(
        "planner-hooks/pegasus-plan is neither in a checkout of pegasus_bb nor in "
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
